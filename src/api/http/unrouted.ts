/** Answers to requests that no route takes: OPTIONS, other methods, unknown methods and paths. */
import { Failure } from '../../engine/runtime/errors.ts';
import type { HttpRequest, HttpResponse } from '../gateway/server.ts';
import { PREFLIGHT_LINES } from './cors.ts';
import { enter, type HttpDeps } from './enter.ts';

type Unrouted = (res: HttpResponse, req: HttpRequest) => void;

/** Without rate limits, so that a browser can always read why its request was refused. */
export function preflight(http: HttpDeps, allowLine: string): Unrouted {
  const kind = { operationId: 'preflight', rate: 'free', isHead: false } as const;
  return (res, req) => {
    const context = enter(http, res, req, kind);
    if (context !== null) http.responses.empty(context, PREFLIGHT_LINES + allowLine, 204);
  };
}

export function methodNotAllowed(http: HttpDeps, allow: string): Unrouted {
  const failure = new Failure('METHOD_NOT_ALLOWED', `this path takes ${allow}`);
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    const refused = unknownMethod(req) ?? failure;
    if (context !== null)
      http.responses.failure(context, refused, { lines: `\r\nAllow: ${allow}` });
  };
}

export function notFound(http: HttpDeps): Unrouted {
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    if (context === null) return;
    const message = `no such route: ${req.getUrl().slice(0, 200)}; see /v1/docs/openapi`;
    const failure = unknownMethod(req) ?? new Failure('NOT_FOUND', message);
    http.responses.failure(context, failure);
  };
}

/** Whether a person asked: browsers say that they read HTML. Programs ask below `/v1`. */
export function wantsPage(req: HttpRequest): boolean {
  const isRead = ['GET', 'HEAD'].includes(req.getCaseSensitiveMethod());
  return (
    isRead && !req.getUrl().startsWith('/v1/') && req.getHeader('accept').includes('text/html')
  );
}

function unrouted(req: HttpRequest) {
  const isHead = req.getCaseSensitiveMethod() === 'HEAD';
  return { operationId: 'unknown', rate: 'read', isHead } as const;
}

/** RFC 9110 and RFC 5789 define these. A path that does not take one answers 405. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** 501 to a method that no path takes; methods are case-sensitive. */
function unknownMethod(req: HttpRequest): Failure | null {
  const method = req.getCaseSensitiveMethod();
  if (METHODS.includes(method)) return null;
  const message = `no such method here: ${method.slice(0, 40)}`;
  return new Failure('METHOD_NOT_ALLOWED', message, { status: 501 });
}
