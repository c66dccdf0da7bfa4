/** What we use of the compiler, which ships without types. */
declare module '@helios-lang/compiler' {
  export interface Script {
    toCbor(): number[];
    hash(): number[];
  }
  export class Program {
    constructor(source: string, options: { isTestnet: boolean; moduleSources: string[] });
    /** `optimize: false` keeps what `assert` has to say, as traces. */
    compile(options: { optimize: boolean; withAlt: boolean }): Script;
  }
}
