import type { Static, TObject, TSchema } from 'typebox';
import type { Session, SessionStage } from '../access/session.ts';
import type { ErrorStatus } from './errors.ts';
import type { IncomingCall, Route } from './route.ts';
import type { BrowserCookies } from './session.ts';
import { type BodyDefinition, bodyParser } from './validation.ts';

/** Argument of the handler: a request that may be in the middle of a sign-in. */
export interface Visit {
  /** Null only on endpoints for the stage `anybody`. */
  session: Session | null;
  /** The client's address. */
  address: string;
  userAgent: string | null;
  /** The device cookie, which identifies a browser after an earlier sign-in. */
  device: string | null;
  /** The cookie of a browser that starts to sign in with a passkey. */
  passkeyBrowser: string | null;
  requestId: string;
  cookies: BrowserCookies;
  /** A raw parameter of the path, for example the token of a link. */
  text(name: string): string;
}

interface VisitDefinition {
  method: Route['method'];
  /** Below the portal's prefix. */
  path: string;
  operationId: string;
  summary: string;
  tag: string;
  errors: readonly ErrorStatus[];
  /** Sign-in stages that may call the endpoint. */
  stages: 'anybody' | readonly SessionStage[];
}

type Answered<Response extends TSchema, Arguments extends unknown[]> =
  | { success: 200 | 201; response: Response; handle(...args: Arguments): Promise<Static<Response>> }
  | { success: 202 | 204; response?: undefined; handle(...args: Arguments): Promise<void> };

/** Declares a portal endpoint that requires less than a full session or handles the session itself. */
export function visitRoute<Response extends TSchema>(
  definition: VisitDefinition & Answered<Response, [visit: Visit]>,
): Route {
  const { handle, ...declared } = definition;
  return { ...declared, query: [], run: async (incoming) => handle(visitOf(incoming)) };
}

/** Declares such an endpoint with a JSON request body. */
export function visitBodyRoute<Body extends TObject, Response extends TSchema>(
  definition: VisitDefinition & { body: BodyDefinition<Body> } & Answered<
      Response,
      [visit: Visit, body: Static<Body>]
    >,
): Route {
  const { handle, body, ...declared } = definition;
  const parseBody = bodyParser(body);
  return {
    ...declared,
    body,
    query: [],
    run: async (incoming) => handle(visitOf(incoming), parseBody(incoming.body)),
  };
}

function visitOf({ session, visitor, cookies, params, requestId }: IncomingCall): Visit {
  return {
    session,
    ...visitor,
    requestId,
    cookies,
    text(name) {
      const value = params[name];
      if (value === undefined) throw new Error(`the path has no ${name}`);
      return value;
    },
  };
}
