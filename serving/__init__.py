"""Export, verification, serving and prediction of trained models."""
