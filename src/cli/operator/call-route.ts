import { OPERATOR_CALLER } from '../../access/caller.ts';
import { errorAnswer } from '../../api/errors.ts';
import { type Route, Started } from '../../api/route.ts';
import { SharedAnswer } from '../../api/shared-answer.ts';
import { apiRoutes, portalRoutes } from '../../app/routes.ts';
import { Failure } from '../../lib/failures.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Found } from './references.ts';

/** The parts of a request. */
interface RouteRequest {
  /** The identifiers in the path. */
  params: Record<string, string>;
  query?: URLSearchParams;
  body?: unknown;
}

/** The body of an answer, and the operation that does the work. */
export interface RouteAnswer {
  body: unknown;
  operationId: string | null;
}

/** The routes of the API and the portal, called in this process by the operator. */
export interface RouteCaller {
  /** Its declaration. */
  route(operationId: string): Route;
  /** Throws OperatorError with every fault. */
  call(operationId: string, request: RouteRequest): Promise<RouteAnswer>;
  /** Every item of a list. */
  everyItem(operationId: string, request: RouteRequest): Promise<unknown[]>;
}

export function createRouteCaller({ platform, services }: Found): RouteCaller {
  const routes = [...apiRoutes(platform, services), ...portalRoutes(services)];
  const { publicUrl } = platform.config;

  function route(operationId: string): Route {
    const found = routes.find((one) => one.operationId === operationId);
    if (found === undefined) throw new Error(`there is no operation ${operationId}`);
    return found;
  }

  async function call(operationId: string, { params, query, body }: RouteRequest): Promise<RouteAnswer> {
    const target = route(operationId);
    const nobody = (): never => {
      throw new Error(`${operationId} needs a browser or a connection`);
    };
    try {
      const answer = await target.run(
        {
          caller: OPERATOR_CALLER,
          session: null,
          visitor: { address: '127.0.0.1', userAgent: null, device: null, passkeyBrowser: null },
          cookies: { set: nobody, setDevice: nobody, setPasskeyBrowser: nobody, clear: nobody },
          params,
          target: `${target.path}?${query ?? ''}`,
          body,
          requestId: operationId,
          reauthenticate: async () => OPERATOR_CALLER,
          wantsEvents: false,
          lastEventId: null,
          disconnected: () => new AbortController().signal,
        },
        publicUrl,
      );
      if (answer instanceof Started) return { body: answer.body, operationId: answer.operationId };
      return { body: answer instanceof SharedAnswer ? answer.body : answer, operationId: null };
    } catch (error) {
      throw error instanceof Failure ? refusal(error, target) : error;
    }
  }

  return {
    route,
    call,
    async everyItem(operationId, request) {
      const items: unknown[] = [];
      let { query } = request;
      for (;;) {
        const { body } = await call(operationId, { ...request, ...(query === undefined ? {} : { query }) });
        const results: unknown = Reflect.get(Object(body), 'results');
        const next: unknown = Reflect.get(Object(body), 'next');
        if (Array.isArray(results)) items.push(...results);
        if (typeof next !== 'string') return items;
        query = new URL(next).searchParams;
      }
    },
  };
}

/** As the API refuses it: the message, and each fault on a line. */
function refusal(error: Failure, { errors }: Route): OperatorError {
  const { message, errors: faults = [] } = errorAnswer(error, errors).envelope;
  const lines = faults.map((fault) => `\n  ${fault.field}: ${fault.message}`);
  return new OperatorError(`${message.replace(/\.?$/, '.')}${lines.join('')}`, { cause: error });
}
