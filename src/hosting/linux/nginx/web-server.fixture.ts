import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { InstallState } from '../../contract/install-state.ts';
import type { TestServer } from './nginx.fixture.ts';
import type { Vhost } from './vhost.ts';

/** Websites of a server, and what their visitors and this machine see. */
export function visitsOf(current: () => TestServer) {
  /** A website of files alone. */
  async function website(state: InstallState): Promise<Vhost> {
    const vhost = await current().makeInstall(state, { php: false });
    await current().write(state, 'who.txt', state.name);
    return vhost;
  }

  const who = async (hostname: string) => {
    const answer = await current().http(hostname, '/who.txt');
    return answer.status === 200 ? answer.text : answer.status;
  };

  /** Faults if exactly these websites should be served. */
  async function faultsOf(vhosts: Vhost[]): Promise<string[]> {
    expect(current().web.served().toSorted()).toEqual(vhosts.map(({ state }) => state.id).toSorted());
    const faults = await Promise.all(vhosts.map((vhost) => current().web.checkWebsite(vhost)));
    return [...(await current().web.check()), ...faults.filter((fault) => fault !== null)];
  }

  async function workers(): Promise<string> {
    const [nginx] = (await current().daemons.list()).filter(({ name }) => name === 'nginx');
    return readFile(`/proc/${nginx?.pid}/task/${nginx?.pid}/children`, 'utf8');
  }

  /** Status, and text or target of an answer, over connections that stay open. */
  async function visited(agent: Agent, hostname: string): Promise<string> {
    const { host, port } = current().options.edgeHttp;
    const headers = { Host: hostname };
    const asked = request({ host, port, path: '/who.txt', headers, agent }).end();
    const [response]: IncomingMessage[] = await once(asked, 'response');
    if (response === undefined) throw new Error('no response');
    const content = await text(response);
    return `${response.statusCode} ${response.headers.location ?? content}`;
  }

  return { website, who, faultsOf, workers, visited };
}
