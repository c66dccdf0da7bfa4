/** Errors of JetStream's API, by the number that its clients compare. */
export interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

function error(code: number, err_code: number, description: string): ApiError {
  return { code, err_code, description };
}

export const apiErrors = {
  badRequest: error(400, 10003, 'bad request'),
  unavailable: error(503, 10008, 'JetStream system temporarily unavailable'),
  noPlacement: error(400, 10005, 'no suitable peers for placement'),
  consumerNotFound: error(404, 10014, 'consumer not found'),
  noRoom: error(503, 10023, 'insufficient resources'),
  noMessage: error(404, 10037, 'no message found'),
  notAPeer: error(400, 10040, 'peer not a member'),
  notDeleted: (why: string) => error(500, 10057, why),
  badConfig: (why: string) => error(500, 10052, why),
  tooLarge: error(400, 10054, 'message size exceeds maximum allowed'),
  nameInUse: error(400, 10058, 'stream name already in use with a different configuration'),
  streamNotFound: error(404, 10059, 'stream not found'),
  otherStream: error(400, 10060, 'expected stream does not match'),
  overlap: error(400, 10065, 'subjects overlap with an existing stream'),
  wrongLastId: (id: string) => error(400, 10070, `wrong last msg ID: ${id}`),
  wrongLast: (seq: number) => error(400, 10071, `wrong last sequence: ${seq}`),
  oneServer: error(500, 10074, 'replicas > 1 not supported in non-clustered mode'),
  notStored: (why: string) => error(503, 10077, why),
  notRemapped: error(503, 10075, 'peer remap failed'),
  rollup: error(500, 10111, 'rollup not permitted'),
  wrongLastInFlight: error(400, 10164, 'wrong last sequence'),
  noTtl: error(400, 10166, 'per-message TTL is disabled'),
} as const;
