/**
 * The body of an error: our own, or a problem of RFC 9457 for a client that names
 * `application/problem+json` in Accept and does not prefer JSON to it. A wildcard is no such name,
 * so a client without support for problems never gets one.
 */
import { STATUS_CODES } from 'node:http';
import type { Failure } from '../../engine/runtime/errors.ts';
import { isRecord } from '../gateway/input.ts';
import type { Answer, ErrorBody } from '../gateway/port.ts';
import { PROBLEM_TYPE, qualityOf } from './accept.ts';

interface SentBody {
  readonly type: string;
  readonly body: string;
}

/** draft-ietf-httpapi-ratelimit-headers, "Quota Exceeded". */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** `policy`: the policy of `RateLimit-Policy` that the request counts for; null: none. */
export function errorBody(failure: Failure, accept: string, policy: string | null): SentBody {
  const { cause, message, details, reason, status } = failure;
  const more = {
    ...(reason === undefined ? {} : { reason }),
    ...(status === 500 && !failure.retry ? { retry: false as const } : {}),
    ...(details === undefined
      ? {}
      : { details: details.map(({ path, message }) => ({ path, message })) }),
  };
  if (!wantsProblem(accept)) {
    const body: ErrorBody = { cause, message, ...more };
    return { type: 'application/json', body: JSON.stringify(body) };
  }
  const isOverQuota = cause === 'RATE_LIMITED' && policy !== null;
  return problem({
    type: isOverQuota ? QUOTA_EXCEEDED : `/docs#cause-${cause}`,
    title: titleOf(cause),
    status,
    detail: message,
    cause,
    ...more,
    ...(isOverQuota ? { 'violated-policies': [policy] } : {}),
  });
}

/** An answer of a handler whose status is an error, such as readiness while it syncs. */
export function asProblem(answer: Answer, status: number): Answer {
  const isJson = answer.type === undefined;
  const parsed: unknown = isJson ? JSON.parse(Buffer.from(answer.body).toString()) : {};
  const fields = isRecord(parsed) ? parsed : {};
  const { type, body } = problem({
    ...fields,
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
  });
  return { ...answer, type, body };
}

export function wantsProblem(accept: string): boolean {
  if (!accept.toLowerCase().includes(PROBLEM_TYPE)) return false;
  const quality = qualityOf(accept, 'application', 'problem+json');
  return quality > 0 && quality >= qualityOf(accept, 'application', 'json');
}

function problem(fields: object): SentBody {
  return { type: PROBLEM_TYPE, body: JSON.stringify(fields) };
}

/** `NOT_READY` as "Not ready". */
function titleOf(cause: string): string {
  const words = cause.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
