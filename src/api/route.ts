import type { Static, TObject, TSchema } from 'typebox';
import type { Caller } from '../access/caller.ts';
import type { Session, SessionStage } from '../access/session.ts';
import type { Capability } from '../hosting/contract/capabilities.ts';
import { Forbidden, MalformedId } from '../lib/failures.ts';
import { parseUuid } from '../lib/ids.ts';
import type { OperationKind } from '../lib/operation.ts';
import type { PageOf, PageRequest } from '../lib/page.ts';
import type { ErrorStatus } from './errors.ts';
import { missingBody } from './json-body.ts';
import { PAGE_PARAMETERS, type PageEnvelope, pageEnvelope, readPageRequest } from './paging.ts';
import { type QueryParameter, type QueryValues, readQuery } from './query.ts';
import { parseTarget } from './request-target.ts';
import { resourceName } from './resource-names.ts';
import { page } from './schema.ts';
import type { BrowserCookies } from './session.ts';
import type { SharedAnswer } from './shared-answer.ts';
import { type BodyDefinition, bodyParser } from './validation.ts';

/** The names of the identifiers in a path: `'install_id' | 'domain_id'`. */
type PathIds<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathIds<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Argument of a route's handler. All values have been checked. */
export interface Call<Path extends string> {
  caller: Caller;
  /** An identifier of the path: a UUID in lower case. */
  id(name: PathIds<Path>): string;
}

/** Names the operation that follows, and where the answer has the identifiers in its path: JSON pointers by name. */
export interface OperationLink {
  operationId: string;
  ids: Readonly<Record<string, string>>;
}

/** Declaration of an endpoint, after its row in the specification's endpoint table. */
export interface Endpoint<Path extends string> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/v1`. */
  path: Path;
  /** Its name in generated clients: `listInstalls`. Version 1.17 of the API has the first say. */
  operationId: string;
  /** One line, for the description. */
  summary: string;
  /** Notes for clients beyond the summary. */
  description?: string;
  /** The operation that reads what this one creates. */
  link?: OperationLink;
  /** Its group in the description. */
  tag: string;
  /** The "Other statuses" of the endpoint's row. The endpoint answers no other errors. */
  errors: readonly ErrorStatus[];
  /** The description declares the path's identifiers as plain strings, like the row. */
  plainIds?: true;
  /** The answer holds a secret, so it is never compressed. */
  isSecret?: true;
  /** A repeated request takes effect again, so the endpoint ignores `Idempotency-Key`. */
  isRepeatable?: true;
  /** A body that clients send and the endpoint ignores; it is described only. */
  unreadBody?: TObject;
  /** What the host of the install must do for it. The service refuses other installs with the code `capability_unavailable`. */
  needs?: Capability;
}

/** Success status and response schema of an endpoint that answers with a body. */
interface Answering<Response extends TSchema> {
  success: 200 | 201 | 202;
  response: Response;
  starts?: undefined;
  /** The address below `/v1` of what the request creates, if `link` does not name the operation that reads it. */
  location?(answer: Static<Response>): string;
}

/** Success status of an endpoint that answers with an empty body. */
interface Silent {
  success: 202 | 204;
  response?: undefined;
  starts?: undefined;
}

/** An endpoint that starts work: its answer names the operation in the header `Location`. */
interface Starting {
  /** With 200, only some requests start work. */
  success: 200 | 201 | 202;
  starts: OperationKind | 'any';
}

/** The answer of a handler that started an operation. Without a response schema, the body is undefined. */
export class Started<Body> {
  /** Null if the request needed no work. */
  readonly operationId: string | null;
  readonly body: Body;
  constructor(operationId: string | null, body: Body) {
    this.operationId = operationId;
    this.body = body;
  }
}

/** The handler and the success of an endpoint. `Arguments`: of the handler. */
type Handled<Arguments extends unknown[], Response extends TSchema> =
  | (Answering<Response> & {
      handle(...args: Arguments): Promise<Static<Response> | SharedAnswer<Static<Response>>>;
    })
  | (Silent & { handle(...args: Arguments): Promise<void> })
  | (Starting & { response: Response; handle(...args: Arguments): Promise<Started<Static<Response>>> })
  | (Starting & { response?: undefined; handle(...args: Arguments): Promise<Started<undefined>> });

interface PagedRouteDefinition<Path extends string, Item extends TSchema, Filter extends string>
  extends Omit<Endpoint<Path>, 'method'> {
  item: Item;
  /** Query parameters that narrow the list. */
  filters?: readonly QueryParameter<Filter>[];
  handle(
    call: Call<Path> & { page: PageRequest; filters: QueryValues<Filter> },
  ): Promise<PageOf<Static<Item>>>;
}

/** An authenticated request. Its body is parsed from JSON but not checked. */
export interface IncomingCall {
  /** Null on public endpoints, and until the sign-in is complete. */
  caller: Caller | null;
  session: Session | null;
  visitor: {
    address: string;
    userAgent: string | null;
    device: string | null;
    passkeyBrowser: string | null;
  };
  cookies: BrowserCookies;
  params: Record<string, string>;
  /** Path and query as requested. */
  target: string;
  body: unknown;
  requestId: string;
  /** Authenticates the request again, after it was held. Returns the caller with the present limits. Throws Unauthenticated. */
  reauthenticate(): Promise<Caller>;
  /** Whether the client asks for server-sent events. */
  wantsEvents: boolean;
  /** The id of the last event that the client got before it connected again. */
  lastEventId: string | null;
  /** A signal that aborts when the connection closes before the answer is sent. */
  disconnected(): AbortSignal;
}

/** A declared endpoint, without type parameters. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  link?: OperationLink;
  tag: string;
  errors: readonly ErrorStatus[];
  plainIds?: true;
  success: 200 | 201 | 202 | 204;
  /** Without it, the answer has no body. */
  response?: TSchema;
  /** The kind of the operation that it starts. */
  starts?: OperationKind | 'any' | undefined;
  /** Type of the answer; JSON by default. */
  contentType?: string;
  /** The answer holds a secret. */
  isSecret?: true;
  isRepeatable?: true;
  /** The answer is compressed if the client asks for it. */
  isCompressed?: true;
  /** The answer is a page of a list. */
  isPaged?: true;
  /** Clients may follow the list by server-sent events. */
  isFollowed?: true;
  /** The answer has an entity tag. */
  entityTag?: true;
  /** Obeys `Idempotency-Key`. */
  idempotencyKey?: true;
  /** The GET of the resource that this route changes, for `If-Match`. */
  resource?: Route;
  /** The address below `/v1` of what the request created. */
  location?(answer: unknown, params: Record<string, string>): string;
  body?: BodyDefinition;
  unreadBody?: TObject;
  needs?: Capability;
  query: readonly Pick<QueryParameter, 'name' | 'schema' | 'example'>[];
  /** Requires no authentication. */
  public?: true;
  /** Sign-in stages that a portal endpoint accepts; `full` by default. */
  stages?: 'anybody' | readonly SessionStage[];
  /** Checks the call, which may throw, runs the handler and resolves to the body of the answer. Links begin with `publicUrl`. */
  run(call: IncomingCall, publicUrl: string): Promise<unknown>;
}

/** Whether the answer to a change is the changed resource, as its GET answers it. */
export function returnsResource({ resource, response }: Route): boolean {
  return resource !== undefined && response !== undefined && resource.response === response;
}

/** Declares an endpoint without a request body. */
export function route<Path extends string, Response extends TSchema>(
  definition: Endpoint<Path> & Handled<[call: Call<Path>], Response>,
): Route {
  const { handle, ...declared } = definition;
  return { ...declared, query: [], run: (incoming) => handle(checkedCall(incoming, declared.method)) };
}

/** Declares an endpoint without a request body that answers 200 with an empty body. */
export function emptyRoute<Path extends string>(
  definition: Endpoint<Path> & { handle(call: Call<Path>): Promise<void> },
): Route {
  const { handle, ...declared } = definition;
  return {
    ...declared,
    success: 200,
    query: [],
    run: async (incoming) => handle(checkedCall(incoming, declared.method)),
  };
}

/** Declares an endpoint with query parameters and without paging. */
export function queryRoute<Path extends string, Response extends TSchema, Name extends string>(
  definition: Omit<Endpoint<Path>, 'method'> & {
    parameters: readonly QueryParameter<Name>[];
    response: Response;
    /** `disconnected` and `reauthenticate` are for answers that are held. */
    handle(
      call: Call<Path> & { query: QueryValues<Name> } & Pick<IncomingCall, 'disconnected' | 'reauthenticate'>,
    ): Promise<Static<Response>>;
  },
): Route {
  const { handle, parameters, ...declared } = definition;
  return {
    ...declared,
    method: 'GET',
    success: 200,
    query: parameters,
    run: async (incoming) =>
      handle({
        ...checkedCall(incoming, 'GET'),
        query: queryOf(incoming, parameters, declared.errors.includes(400)),
        disconnected: () => incoming.disconnected(),
        reauthenticate: () => incoming.reauthenticate(),
      }),
  };
}

/** Declares an endpoint with a JSON request body. */
export function bodyRoute<Path extends string, Body extends TObject, Response extends TSchema>(
  definition: Endpoint<Path> & { body: BodyDefinition<Body> } & Handled<
      [call: Call<Path>, body: Static<Body>],
      Response
    >,
): Route {
  const { handle, body, ...declared } = definition;
  const parseBody = bodyParser(body);
  return {
    ...declared,
    body,
    query: [],
    run: async (incoming) => {
      const call = checkedCall(incoming, declared.method);
      if (declared.method === 'PATCH' && incoming.body === undefined) throw missingBody();
      return handle(call, parseBody(incoming.body));
    },
  };
}

/** Declares an endpoint that requires no authentication. */
export function publicRoute<Response extends TSchema>(
  definition: Endpoint<string> & Answering<Response> & { handle(): Promise<Static<Response>> },
): Route {
  const { handle, ...declared } = definition;
  return { ...declared, public: true, query: [], run: () => handle() };
}

/** Declares an endpoint that answers a paginated list. */
export function pagedRoute<Path extends string, Item extends TSchema, Filter extends string = never>(
  definition: PagedRouteDefinition<Path, Item, Filter>,
): Route {
  const { handle, item, filters = [], ...declared } = definition;
  const strict = declared.errors.includes(400);
  return {
    ...declared,
    method: 'GET',
    success: 200,
    response: page(item),
    isPaged: true,
    query: [...PAGE_PARAMETERS, ...filters],
    async run(call, publicUrl): Promise<PageEnvelope<Static<Item>>> {
      const checked = checkedCall(call, 'GET');
      const target = parseTarget(call.target);
      const query = new URLSearchParams(target.query);
      const request = readPageRequest(query, strict);
      const answer = await handle({
        ...checked,
        page: request,
        filters: readQuery(query, filters),
      });
      return pageEnvelope(answer, request, { base: publicUrl, path: target.path, query });
    },
  };
}

/** The checked query parameters of a call. */
export function queryOf<Name extends string>(
  { target }: IncomingCall,
  parameters: readonly QueryParameter<Name>[],
  strict = true,
): QueryValues<Name> {
  return readQuery(new URLSearchParams(parseTarget(target).query), parameters, strict);
}

export function checkedCall(
  { caller, params }: IncomingCall,
  method: Route['method'],
): { caller: Caller; id(name: string): string } {
  if (caller === null) throw new Error('a request passed the gate without a caller');
  if (method !== 'GET' && caller.limits?.readOnly === true) throw new Forbidden();
  return { caller, id: checkedIds(params) };
}

/** Checks all identifiers of the path. Throws MalformedId, which names the kind of resource. */
function checkedIds(params: Record<string, string>): (name: string) => string {
  const ids: Record<string, string> = {};
  for (const name of Object.keys(params)) {
    const id = parseUuid(params[name] ?? '');
    if (id === undefined) throw new MalformedId(resourceName(name));
    ids[name] = id;
  }
  return (name) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`the path has no ${name}`);
    return id;
  };
}
