// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/EscapeControls.h"

#include <gtest/gtest.h>

namespace ds {
namespace {

TEST(EscapeControls, LeavesTextAlone) {
  for (const char *text : {"", "fc0.weight\n\tgot [3, 4]",
                           "Gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xe6\xa8\xa1\xe5\x9e\x8b", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(escapeControls(text), text);
}

TEST(EscapeControls, EscapesWhatSteersATerminal) {
  EXPECT_EQ(escapeControls("a\x1b[2Jb\r\x07\x7f"), "a\\x1b[2Jb\\x0d\\x07\\x7f");
  EXPECT_EQ(escapeControls(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escapeControls("\xc2\x9b"
                           "31m"),
            "\\xc2\\x9b31m"); // the control of 8 bits that is ESC [
  EXPECT_EQ(escapeControls("\xe2\x80\xae"
                           "cba"),
            "\\xe2\\x80\\xae"
            "cba"); // right to left
}

TEST(EscapeControls, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(escapeControls("\x9b"
                           "31m"),
            "\\x9b31m");
  EXPECT_EQ(escapeControls("\xc3"), "\\xc3");
  EXPECT_EQ(escapeControls("\xc1\x9b"), "\\xc1\\x9b");          // longer than it must be
  EXPECT_EQ(escapeControls("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // half of a pair
  EXPECT_EQ(escapeControls("\xf5\x80\x80\x80x"), "\\xf5\\x80\\x80\\x80x");
}

} // namespace
} // namespace ds
