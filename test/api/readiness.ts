/** The fields of `/health/ready` that tests read. */
export interface Readiness {
  readonly synced: boolean;
  readonly stale: boolean;
  readonly role: string;
  readonly term: number;
  readonly seq: number;
  readonly stateHash: string;
  readonly position: string;
  readonly tip: { readonly slot: number | null; readonly hash: string | null };
  readonly sync: {
    readonly slot: number | null;
    readonly tipSlot: number | null;
    readonly blocksBehind: number | null;
    readonly percent: number | null;
    readonly blocksPerSecond: number;
    readonly secondsLeft: number | null;
  } | null;
}
