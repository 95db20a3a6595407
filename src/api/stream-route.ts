import type { Readable } from 'node:stream';
import type { Session } from '../access/session.ts';
import { type Call, checkedCall, type Endpoint, type Route } from './route.ts';
import { Type } from './schema.ts';

/** An answer that is sent as it comes about. The stream is destroyed when the client goes. */
export class StreamedAnswer {
  readonly body: Readable;
  readonly headers: Readonly<Record<string, string>>;
  constructor(body: Readable, headers: Readonly<Record<string, string>> = {}) {
    this.body = body;
    this.headers = headers;
  }
}

/** Declares an endpoint of the portal that answers with a stream. What `handle` throws is answered as anywhere. */
export function streamRoute<Path extends string>(
  definition: Omit<Endpoint<Path>, 'method'> & {
    contentType: string;
    /** What the stream holds, for the description. */
    content: string;
    handle(call: Call<Path> & { session: Session }): Promise<StreamedAnswer>;
  },
): Route {
  const { handle, content, ...declared } = definition;
  return {
    ...declared,
    method: 'GET',
    success: 200,
    response: Type.String({ description: content }),
    query: [],
    run: async (incoming) => {
      const { session } = incoming;
      if (session === null) throw new Error('a request passed the gate without a session');
      return handle({ ...checkedCall(incoming, 'GET'), session });
    },
  };
}
