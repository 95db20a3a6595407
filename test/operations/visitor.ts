import { Agent, request } from 'undici';

/** The answer that a visitor gets. */
export interface Seen {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

interface Asked {
  method?: 'GET' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A browser whose DNS points to an edge. Keeps cookies, and follows no redirects. */
export interface Visitor {
  open(address: string, asked?: Asked): Promise<Seen>;
  close(): Promise<void>;
}

/** Where an edge listens. */
export interface Edge {
  http: number;
  https: number;
}

/** Certificates are not verified: those of new websites are self-signed. */
export function createVisitor(edge: Edge): Visitor {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const cookies = new Map<string, string>();
  return {
    async open(address, { method = 'GET', headers = {}, body } = {}) {
      const { protocol, host, pathname, search } = new URL(address);
      const port = protocol === 'https:' ? edge.https : edge.http;
      const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await request(`${protocol}//127.0.0.1:${port}${pathname}${search}`, {
        dispatcher,
        method,
        headers: { host, ...(sent === '' ? {} : { cookie: sent }), ...headers },
        ...(body === undefined ? {} : { body }),
      });
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [pair = ''] = line.split(';', 1);
        const at = pair.indexOf('=');
        cookies.set(pair.slice(0, at), pair.slice(at + 1));
      }
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    close: () => dispatcher.close(),
  };
}
