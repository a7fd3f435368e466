// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How the gradient rules are written: one function per op, attached as an external model of
/// `DifferentiableOpInterface`. One file per op family.

#ifndef DS_PASSES_PROGRAM_GRADIENTS_GRADIENTS_H
#define DS_PASSES_PROGRAM_GRADIENTS_GRADIENTS_H

#include "../StepBuilder.h"

namespace ds {

/// What a rule reads and fills.
struct Gradients {
  StepBuilder build;
  mlir::ValueRange results;                     ///< gradients of the op's results; null: zero
  llvm::ArrayRef<bool> needed;                  ///< per operand
  llvm::SmallVectorImpl<mlir::Value> &operands; ///< gradients of the operands, to be filled
  llvm::LogicalResult status = mlir::success(); ///< a rule that cannot emits an error and sets this

  /// The gradient of the op's first result.
  mlir::Value result() const { return results.front(); }
};

/// The external model whose rule is a function.
template <typename OpT, void (*rule)(OpT, Gradients &)>
struct GradientModel : DifferentiableOpInterface::ExternalModel<GradientModel<OpT, rule>, OpT> {
  llvm::LogicalResult buildGradients(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange resultGradients,
                                     llvm::ArrayRef<bool> needed,
                                     llvm::SmallVectorImpl<mlir::Value> &operandGradients) const {
    operandGradients.assign(op->getNumOperands(), mlir::Value());
    Gradients gradients{StepBuilder(builder, op->getLoc()), resultGradients, needed, operandGradients};
    rule(llvm::cast<OpT>(op), gradients);
    return gradients.status;
  }
};

template <typename OpT, void (*rule)(OpT, Gradients &)> void attachRule(mlir::MLIRContext *context) {
  OpT::template attachInterface<GradientModel<OpT, rule>>(*context);
}

void attachArithGradients(mlir::MLIRContext *context);
void attachMathGradients(mlir::MLIRContext *context);
void attachActivationGradients(mlir::MLIRContext *context);
void attachAttentionGradients(mlir::MLIRContext *context);
void attachConvolutionGradients(mlir::MLIRContext *context);
void attachIndexGradients(mlir::MLIRContext *context);
void attachLossGradients(mlir::MLIRContext *context);
void attachMatmulGradients(mlir::MLIRContext *context);
void attachNormGradients(mlir::MLIRContext *context);
void attachReduceGradients(mlir::MLIRContext *context);
void attachShapeGradients(mlir::MLIRContext *context);

} // namespace ds

#endif // DS_PASSES_PROGRAM_GRADIENTS_GRADIENTS_H
