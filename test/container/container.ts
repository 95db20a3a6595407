import { Agent, request } from 'undici';
import { text } from '../client.ts';
import type { Engine } from './engine.ts';

/** Homeport in a container, used as its operator and a customer use it. */
export interface Container {
  name: string;
  /** Runs `homeport …` in the container as its user. */
  homeport(...words: string[]): Promise<string>;
  /** Runs a line of a shell in the container. */
  shell(line: string): Promise<string>;
  /** Asks for a path of the API's server. Rejects for an answer that is no success. */
  get(path: string): Promise<string>;
  /** Asks the API for a path below `/v1`. Rejects for an answer that is no success. */
  api(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  /** The value of `Authorization` that {@link api} sends, of the first owner. */
  authorization(): Promise<string>;
  /** Lets {@link api} send another one. */
  signInAs(value: string): void;
  /** What the engine knows of it. */
  inspect(format: string): Promise<string>;
  logs(): Promise<string>;
}

export const DATA = '/var/lib/homeport/data';
/** As the compose file publishes it. */
const ORIGIN = 'https://localhost:8443';

/** `name` is that of a running container, and `origin` that of its API. */
export function containerOf(engine: Engine, name: string, origin = ORIGIN): Container {
  let agent: Agent | null = null;
  let authorization = '';

  const read = (file: string) => engine.run(['exec', name, 'cat', file]);

  /** The certificate is made at the first start. */
  async function trusted(): Promise<Agent> {
    agent ??= new Agent({ connect: { ca: await read(`${DATA}-public/api.crt`) } });
    return agent;
  }

  async function ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<string> {
    const { statusCode, body: answer } = await request(origin + path, {
      method,
      dispatcher: await trusted(),
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.text();
    if (statusCode < 300) return said;
    throw new Error(`${method} ${path} answers ${statusCode}: ${said.slice(0, 500)}`);
  }

  /** Of the first owner, from the file that the start names. */
  async function signIn(): Promise<void> {
    const secrets = await read(`${DATA}/first-sign-in.txt`);
    const of = (label: string) => new RegExp(`^ *${label} +(\\S+)$`, 'm').exec(secrets)?.[1] ?? '';
    authorization = `Basic ${Buffer.from(`${of('Username')}:${of('Password')}`).toString('base64')}`;
  }

  return {
    name,
    homeport: (...words) => engine.run(['exec', name, 'homeport', ...words]),
    shell: (line) => engine.run(['exec', name, 'sh', '-c', line]),
    get: (path) => ask('GET', path),
    async api(method, path, body) {
      if (authorization === '') await signIn();
      const answer: unknown = JSON.parse(await ask(method, `/v1${path}`, body));
      return answer;
    },
    async authorization() {
      if (authorization === '') await signIn();
      return authorization;
    },
    signInAs(value) {
      authorization = value;
    },
    inspect: (format) => engine.run(['inspect', '--format', format, name]),
    logs: () => engine.logs(name),
  };
}

/** The first account. */
export async function accountOf(container: Container): Promise<string> {
  return text(await container.api('GET', '/accounts'), 'results', 0, 'id');
}
