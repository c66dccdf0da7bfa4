/** A value that JSON and MessagePack can both carry unchanged: no undefined, no bigint. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
