# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""The attention of the oracles' models by PyTorch's own kernel: its fastest form."""
import make
import torch
from torch.nn import functional as F


def _gpt2(self, x):
    b, s, h = x.shape
    q, k, v = (t.view(b, s, self.heads, h // self.heads).transpose(1, 2) for t in self.c_attn(x).split(h, dim=2))
    return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, h))


def _llama(self, x):
    b, s, h = x.shape
    q, k, v = (project(x).view(b, s, -1, self.dim).transpose(1, 2) for project in (self.q_proj, self.k_proj, self.v_proj))
    angle = torch.arange(s, device=x.device, dtype=x.dtype)[:, None] * self.inv_freq[None, :]
    angle = torch.cat((angle, angle), dim=-1)
    cos, sin = angle.cos(), angle.sin()
    q, k = q * cos + make.rotate_half(q) * sin, k * cos + make.rotate_half(k) * sin
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return self.o_proj(attended.transpose(1, 2).reshape(b, s, h))


def use():
    """From now on models are built with it."""
    make.Gpt2Attention.forward = _gpt2
    make.LlamaAttention.forward = _llama
