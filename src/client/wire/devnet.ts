// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface FaucetBody {
  readonly address: string;
  readonly ada?: number | null;
}

export interface FaucetAnswer {
  readonly txHash: string;
}

export interface ForkBody {
  readonly depth: number;
  readonly resubmit?: 'all' | 'none' | null;
}

export interface ForkAnswer {
  readonly height: number;
}

export interface MineBody {
  readonly blocks: number;
}

export interface MineAnswer {
  readonly height: number;
}
