import type { operations } from './api-types.ts';

/** The id of an operation in the description, such as `listInstalls`. */
export type EndpointId = keyof operations & string;

type ParametersOf<Id extends EndpointId> = operations[Id]['parameters'];

type PathOf<Id extends EndpointId> = ParametersOf<Id> extends { path: infer Path } ? { path: Path } : unknown;

export type QueryOf<Id extends EndpointId> =
  ParametersOf<Id> extends { query?: infer Query } ? NonNullable<Query> : Record<string, never>;

type JsonOf<Holder> = Holder extends { content: { 'application/json': infer Json } } ? Json : undefined;

type BodyOf<Id extends EndpointId> = operations[Id] extends { requestBody: infer Body }
  ? { body: JsonOf<Body> }
  : unknown;

export interface CallOptions {
  /** Sent as `Idempotency-Key`; a random one by default. The server does the work of one key once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Path identifiers, query and body of a call. */
export type CallArguments<Id extends EndpointId> = PathOf<Id> &
  BodyOf<Id> & { query?: QueryOf<Id> } & CallOptions;

type Responses<Id extends EndpointId> = operations[Id]['responses'];

/** The body of a successful answer; undefined if it has none. */
export type Answer<Id extends EndpointId> =
  Responses<Id> extends { 200: infer Success }
    ? JsonOf<Success>
    : Responses<Id> extends { 201: infer Created }
      ? JsonOf<Created>
      : Responses<Id> extends { 202: infer Accepted }
        ? JsonOf<Accepted>
        : undefined;

/** Endpoints that answer with a page. */
export type PagedId = {
  [Id in EndpointId]: Answer<Id> extends { results: unknown[]; next: string | null } ? Id : never;
}[EndpointId];

export type ItemOf<Id extends PagedId> = Answer<Id> extends { results: (infer Item)[] } ? Item : never;

export type Operation = Answer<'getOperation'>;
