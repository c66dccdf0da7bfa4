/// <reference types="node" />

export function loadScalus(module: NodeJS.Module, require: NodeJS.Require, filename: string): void;
export function scalusCode(
  filename: string,
  require: NodeJS.Require,
): { readonly name: string; make(): Buffer };
