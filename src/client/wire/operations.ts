// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface ServerTimeAnswer {
  /** Wall clock of this node, Unix milliseconds. */
  readonly timestamp: number;
}

export interface LimitsAnswer {
  /** Name of the API key, or the address (IPv6: the /64). */
  readonly caller: string;
  /** Each node counts for itself. */
  readonly scope: 'node';
  /** Nothing is counted: a call from the same machine, without an API key. */
  readonly exempt: boolean;
  readonly classes: {
    readonly read: {
      /** Requests that fit into the full bucket. */
      readonly limit: number;
      /** Requests left in it. */
      readonly remaining: number;
      /** Seconds until it is full again. */
      readonly reset: number;
    };
    readonly build: {
      /** Requests that fit into the full bucket. */
      readonly limit: number;
      /** Requests left in it. */
      readonly remaining: number;
      /** Seconds until it is full again. */
      readonly reset: number;
    };
    readonly launch: {
      /** Requests that fit into the full bucket. */
      readonly limit: number;
      /** Requests left in it. */
      readonly remaining: number;
      /** Seconds until it is full again. */
      readonly reset: number;
    };
  };
  readonly sockets: {
    /** Sockets and event streams that may be open. */
    readonly limit: number;
    /** Open sockets now. */
    readonly open: number;
  };
}

export interface AdaUsdRateAnswer {
  /** US dollars for one ADA. */
  readonly rate: string;
  /** Unix seconds at which the source told it. */
  readonly time: number;
  /** The host that told it, or `fixed`. */
  readonly source: string;
  /** The source has told none for five minutes. */
  readonly stale: boolean;
}

export interface HealthReadyAnswer {
  /** Name of the log: <n>-<random>. */
  readonly epoch: string;
  /** Newest entry that every answer includes. */
  readonly seq: number;
  readonly node: string;
  /** A reader never leads (ROLE=reader). */
  readonly role: 'leader' | 'follower' | 'reader';
  readonly synced: boolean;
  /** The source of entries is silent: right but old. */
  readonly stale: boolean;
  /** <epoch>:<seq> */
  readonly position: string;
  /** Node that leads, as this one saw it last; null: none, nothing new comes. */
  readonly leader: string | null;
  /** Term of the leader whose entry was applied last. */
  readonly term: number;
  /** Entries that are written and not applied here yet. */
  readonly lagEntries: number;
  /** Hex; equal on every node at this position. */
  readonly stateHash: string;
  /** Entry after which stateHash was taken: that of the position. */
  readonly hashedSeq: number;
  /** It serves, but something is wrong: see reasons. */
  readonly degraded: boolean;
  /** Faults, and conditions that this node waits for; empty: none. */
  readonly reasons: readonly {
    readonly code:
      | 'LOG_NOT_WRITTEN'
      | 'STATE_NOT_WRITTEN'
      | 'FOLD_STOPPED'
      | 'DEVNET_NOT_WRITTEN'
      | 'NODE_AWAY'
      | 'NODE_BEHIND'
      | 'CHAIN_NOT_FOLLOWED'
      | 'NATS_AWAY'
      | 'NO_LEADER'
      | 'LOG_DIVERGED'
      | 'LOG_COPY_BEHIND'
      | 'STATE_DAMAGED'
      | 'KUPO_AWAY'
      | 'PARAMETERS_UNKNOWN'
      | 'SCRIPTS_NOT_EVALUATED'
      | 'POOLS_QUARANTINED'
      | 'EXECUTOR_MAY_NOT_TRADE'
      | 'STEPS_STUCK'
      | 'NO_BLOCKS'
      | 'MAY_NOT_LEAD'
      | 'SNAPSHOT_NOT_WRITTEN'
      | 'WEBHOOKS_NOT_SAVED'
      | 'API_KEYS_NOT_READ';
    /** Cause, and what to do. */
    readonly message: string;
  }[];
  readonly quarantinedPools: number;
  /**
   * Tokens of pools with a step (fill, refund, graduation, payout to the creator) that fails;
   * the other steps go on. Told by the leader; at most a hundred. Reasons say more.
   */
  readonly stuckPools: readonly string[];
  /** Why this node of several must not lead (full disk, wrong clock); null: it may. */
  readonly mayNotLead: string | null;
  readonly tip: {
    /** Slot of the newest block; null without a chain. */
    readonly slot: number | null;
    /** Hash of the newest block; null without a chain. */
    readonly hash: string | null;
    /** Market time, Unix seconds. */
    readonly time: number | null;
    /** Milliseconds between the newest entry and now; null where unknown. */
    readonly lagMs: number | null;
  };
  /** null: there is nothing to catch up with. */
  readonly sync: {
    /** Slot of the newest block here; null before the first. */
    readonly slot: number | null;
    /** Slot of the node's newest block; null while the node does not tell. */
    readonly tipSlot: number | null;
    /** Blocks that are still to come. */
    readonly blocksBehind: number | null;
    /** Share of the slots from the start of following to the node's newest block. */
    readonly percent: number | null;
    /** Over the last 20 seconds. */
    readonly blocksPerSecond: number;
    /** At that pace; null where it cannot be told. */
    readonly secondsLeft: number | null;
  } | null;
}
