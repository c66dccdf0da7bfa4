/** Puts routes on the server: HEAD beside every GET, 405 for other methods, OPTIONS, 404. */
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import type { HttpRequest, HttpResponse, Server } from '../gateway/server.ts';
import { PREFLIGHT_LINES } from './cors.ts';
import { enter, type HttpDeps, RouteServer } from './route.ts';

type Unrouted = (res: HttpResponse, req: HttpRequest) => void;

export function mount(server: Server, routes: readonly Route[], http: HttpDeps): void {
  const methodsOf = new Map<string, Set<string>>();
  for (const route of routes) {
    const wrapper = new RouteServer(route, http);
    const methods = methodsOf.get(route.path) ?? new Set<string>();
    methodsOf.set(route.path, methods.add(route.method));
    if (route.method === 'GET') {
      methods.add('HEAD');
      server.handle('get', route.path, (res, req) => wrapper.serve(res, req, false));
      server.handle('head', route.path, (res, req) => wrapper.serve(res, req, true));
    } else {
      server.handle('post', route.path, (res, req) => wrapper.serve(res, req, false));
    }
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods, 'OPTIONS'].join(', ');
    server.handle('options', path, preflight(http));
    server.handle('any', path, methodNotAllowed(http, allow));
  }
  server.handle('options', '/*', preflight(http));
  server.handle('any', '/*', notFound(http));
}

/** Free of limits, so that a browser can always read why its request was refused. */
function preflight(http: HttpDeps): Unrouted {
  const kind = { operationId: 'preflight', rate: 'free', isHead: false } as const;
  return (res, req) => {
    const context = enter(http, res, req, kind);
    if (context !== null) http.responses.empty(context, PREFLIGHT_LINES);
  };
}

function methodNotAllowed(http: HttpDeps, allow: string): Unrouted {
  const failure = new Failure('METHOD_NOT_ALLOWED', `this path takes ${allow}`);
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    if (context !== null)
      http.responses.failure(context, failure, { lines: `\r\nAllow: ${allow}` });
  };
}

function notFound(http: HttpDeps): Unrouted {
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    if (context === null) return;
    const message = `no such route: ${req.getUrl().slice(0, 200)}; see /v1/docs/openapi`;
    http.responses.failure(context, new Failure('NOT_FOUND', message));
  };
}

function unrouted(req: HttpRequest) {
  return { operationId: 'unknown', rate: 'read', isHead: req.getMethod() === 'head' } as const;
}
