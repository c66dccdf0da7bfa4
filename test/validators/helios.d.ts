/** What we use of the compiler, which ships without types. */
declare module '@helios-lang/compiler' {
  export interface Script {
    toCbor(): number[];
    hash(): number[];
    toString(): string;
  }
  export interface CompileOptions {
    optimize: boolean;
    withAlt?: boolean;
  }
  /** A function of a program, compiled alone; its arguments are values, not data. */
  export interface UserFunction {
    compile(options: CompileOptions): Script;
  }
  export class Program {
    constructor(source: string, options: { isTestnet: boolean; moduleSources: string[] });
    compile(options: CompileOptions): Script;
    readonly userFunctions: Record<string, Record<string, UserFunction>>;
  }
}
