import type { Readable } from 'node:stream';
import type { Session } from '../access/session.ts';
import type { QueryParameter, QueryValues } from './query.ts';
import { type Call, checkedCall, type Endpoint, queryOf, type Route } from './route.ts';
import { Type } from './schema.ts';

/** A streamed answer. Fastify destroys the stream when the client disconnects. */
export class StreamedAnswer {
  readonly body: Readable;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for that of the route. */
  readonly type: string | null;
  constructor(body: Readable, headers: Readonly<Record<string, string>> = {}, type: string | null = null) {
    this.body = body;
    this.headers = headers;
    this.type = type;
  }
}

/** Declares a portal endpoint that answers with a stream. Errors of `handle` get the usual answers. */
export function streamRoute<Path extends string, Name extends string = never>(
  definition: Omit<Endpoint<Path>, 'method'> & {
    contentType: string;
    /** Content of the stream, for the description. */
    content: string;
    parameters?: readonly QueryParameter<Name>[];
    handle(call: Call<Path> & { session: Session; query: QueryValues<Name> }): Promise<StreamedAnswer>;
  },
): Route {
  const { handle, content, parameters = [], ...declared } = definition;
  return {
    ...declared,
    method: 'GET',
    success: 200,
    response: Type.String({ description: content }),
    query: parameters,
    run: async (incoming) => {
      const { session } = incoming;
      if (session === null) throw new Error('a request passed the gate without a session');
      return handle({ ...checkedCall(incoming, 'GET'), session, query: queryOf(incoming, parameters) });
    },
  };
}
