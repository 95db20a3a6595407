import { OperationFailed } from './errors.ts';
import { type RetryLimits, type Surroundings, sendWithRetries } from './retries.ts';
import type {
  Answer,
  CallArguments,
  CallOptions,
  EndpointId,
  ItemOf,
  Operation,
  PagedId,
  QueryOf,
} from './types.ts';

export interface ClientOptions {
  /** Base URL of the API, which ends in `/v1`. */
  url: string;
  /** The API username and password, which users create in the portal under "API access". */
  credential: { username: string; password: string };
  retries?: Partial<RetryLimits>;
  surroundings?: Partial<Surroundings>;
}

export interface WaitOptions {
  signal?: AbortSignal;
  /** Called with every state that the client sees. */
  onProgress?: (operation: Operation) => void;
}

/** An answer, and the operation that the request started. */
export interface Started<Id extends EndpointId> {
  body: Answer<Id>;
  /** Id of the operation that does the work; null if the request started none. */
  operationId: string | null;
}

/** The arguments of an endpoint, optional if it needs none. */
type Rest<Id extends EndpointId> =
  Record<string, never> extends CallArguments<Id> ? [args?: CallArguments<Id>] : [args: CallArguments<Id>];

/** A call whose arguments have not been matched with an endpoint by the compiler, such as one of a command line. */
export interface UntypedCall extends CallOptions {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export interface HomeportClient {
  /** Calls an endpoint by its operation id. Resolves with the body. Throws HomeportError. */
  call<Id extends EndpointId>(id: Id, ...rest: Rest<Id>): Promise<Answer<Id>>;
  /** Calls an endpoint that starts work. Pass the operation's id to `waitFor`. Throws HomeportError. */
  start<Id extends EndpointId>(id: Id, ...rest: Rest<Id>): Promise<Started<Id>>;
  /** The items of all pages, loaded as the loop needs them. Throws HomeportError. */
  items<Id extends PagedId>(id: Id, ...rest: Rest<Id>): AsyncGenerator<ItemOf<Id>, void, undefined>;
  /** Waits until an operation has succeeded. Throws OperationFailed and HomeportError. */
  waitFor(operationId: string, options?: WaitOptions): Promise<Operation>;
  /** Sends a call without types, and returns the response. Throws HomeportError. */
  send(id: string, call: UntypedCall): Promise<Response>;
}

const RETRIES: RetryLimits = { retries: 4, longestPauseMs: 60_000 };
/** The longest time that the server holds an answer. */
const WAIT_SECONDS = 60;

/** Method and path of an endpoint. Throws for an id that it does not know. */
export type FindEndpoint = (id: string) => { method: string; path: string };

/** Creates a client. It keeps no connection and no state, apart from those of `fetch`. */
export function createClient(
  findEndpoint: FindEndpoint,
  { url, credential, retries, surroundings }: ClientOptions,
): HomeportClient {
  const base = url.replace(/\/+$/, '');
  const authorization = `Basic ${base64(`${credential.username}:${credential.password}`)}`;
  const limits = { ...RETRIES, ...retries };
  const around: Surroundings = {
    fetch: (request) => fetch(request),
    sleep,
    random: Math.random,
    ...surroundings,
  };

  async function send(id: string, call: UntypedCall): Promise<Response> {
    const { method, path } = findEndpoint(id);
    const headers = new Headers({ authorization, accept: 'application/json' });
    if (call.body !== undefined) headers.set('content-type', 'application/json');
    // With a key the server does the work once, so that every request is repeatable.
    if (method !== 'GET') headers.set('idempotency-key', call.idempotencyKey ?? crypto.randomUUID());
    const request = new Request(`${base}${filled(path, call.path ?? {})}${queryText(call.query ?? {})}`, {
      method,
      headers,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    return sendWithRetries(request, true, limits, around);
  }

  async function start<Id extends EndpointId>(id: Id, ...[args]: Rest<Id>): Promise<Started<Id>> {
    const response = await send(id, untyped(args));
    return { body: await bodyOf<Answer<Id>>(response), operationId: startedBy(response) };
  }

  return {
    send,
    start,
    call: async (id, ...rest) => (await start(id, ...rest)).body,

    async *items<Id extends PagedId>(id: Id, ...[args]: Rest<Id>) {
      const call = untyped(args);
      let query = call.query;
      for (;;) {
        const page = await bodyOf<{ results: ItemOf<Id>[]; next: string | null }>(
          await send(id, { ...call, query: query ?? {} }),
        );
        yield* page.results;
        if (page.next === null) return;
        // The link may lead to another address of the server than the one that this client uses.
        query = Object.fromEntries(new URL(page.next).searchParams);
      }
    },

    async waitFor(operationId, { signal, onProgress } = {}) {
      for (;;) {
        const response = await send('getOperation', {
          path: { operation_id: operationId },
          query: { wait: WAIT_SECONDS } satisfies QueryOf<'getOperation'>,
          ...(signal === undefined ? {} : { signal }),
        });
        const operation = await bodyOf<Operation>(response);
        onProgress?.(operation);
        if (operation.status === 'succeeded') return operation;
        if (operation.status === 'failed' || operation.status === 'cancelled') {
          throw new OperationFailed({ id: operation.id, status: operation.status }, operation.error);
        }
      }
    },
  };
}

function untyped(args: object | undefined): UntypedCall {
  return args ?? {};
}

/** The types come from the description that the server validates its answers with. */
async function bodyOf<Body>(response: Response): Promise<Body> {
  const text = await response.text();
  const body = text === '' ? undefined : JSON.parse(text);
  return body;
}

/** Id of the operation in the Location of an answer; null if it leads elsewhere. */
function startedBy(response: Response): string | null {
  return /\/operations\/([0-9a-f-]{36})$/.exec(response.headers.get('location') ?? '')?.[1] ?? null;
}

function filled(path: string, ids: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const id = ids[name];
    if (id === undefined || id === '') throw new TypeError(`the path needs ${name}`);
    return encodeURIComponent(id);
  });
}

function queryText(query: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    function done() {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}
