import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { acceptsEvents } from './event-streams.ts';
import type { Gate } from './gate.ts';
import type { IncomingCall } from './route.ts';
import { browserCookies, deviceToken, passkeyBrowserToken } from './session.ts';

type ChangedParts = Partial<Pick<IncomingCall, 'caller' | 'target' | 'body'>>;

/** A call as Fastify received it. Reads the parts that few endpoints need when they are asked for. */
export class ReceivedCall implements IncomingCall {
  readonly caller: IncomingCall['caller'];
  readonly session: IncomingCall['session'];
  readonly params: Record<string, string>;
  readonly target: string;
  readonly body: unknown;
  readonly requestId: string;
  readonly #gate: Pick<Gate, 'reauthenticate'>;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(
    gate: Pick<Gate, 'reauthenticate'>,
    request: FastifyRequest,
    reply: FastifyReply,
    changed: ChangedParts = {},
  ) {
    this.caller = changed.caller ?? request.caller ?? null;
    this.session = request.session ?? null;
    this.params = stringParams(request.params);
    this.target = changed.target ?? request.url;
    this.body = 'body' in changed ? changed.body : request.body;
    this.requestId = request.id;
    this.#gate = gate;
    this.#request = request;
    this.#reply = reply;
  }

  get visitor(): IncomingCall['visitor'] {
    const { ip, headers } = this.#request;
    return {
      address: ip,
      userAgent: headers['user-agent'] ?? null,
      device: deviceToken(this.#request) ?? null,
      passkeyBrowser: passkeyBrowserToken(this.#request) ?? null,
    };
  }

  get cookies(): IncomingCall['cookies'] {
    return browserCookies(this.#reply);
  }

  get wantsEvents(): boolean {
    const { method, headers } = this.#request;
    // The answer to a HEAD request has no body that could end.
    return method === 'GET' && acceptsEvents(headers);
  }

  get lastEventId(): string | null {
    const id = this.#request.headers['last-event-id'];
    return typeof id === 'string' ? id : null;
  }

  reauthenticate(): Promise<Caller> {
    return this.#gate.reauthenticate(this.#request);
  }

  disconnected(): AbortSignal {
    return disconnected(this.#reply);
  }

  /** The same call with other parts. */
  with(changed: ChangedParts): ReceivedCall {
    return new ReceivedCall(this.#gate, this.#request, this.#reply, changed);
  }
}

/** Aborts when the connection of the answer closes. */
function disconnected({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (raw.destroyed) controller.abort();
  else raw.once('close', () => controller.abort());
  return controller.signal;
}

function stringParams(params: unknown): Record<string, string> {
  const strings: Record<string, string> = {};
  if (typeof params !== 'object' || params === null) return strings;
  for (const name of Object.keys(params)) strings[name] = String(Reflect.get(params, name));
  return strings;
}
