import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { silent } from '../../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { runningJob } from '../../../../test/running-job.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../../test/servers/dns-server.ts';
import { createOutside } from '../../../app/network-clients.ts';
import { domainReportJobKinds } from './job-kinds.ts';

const SLOW = '127.0.0.8';

/** No worker runs here. The test runs each check itself. */
describe.skipIf(!findDnsServers())('a check of a slow server', () => {
  let dns: DnsTestServers;
  let homeport: TestHomeport;
  let accountId: string;
  let owner: Person;
  let slow: Server;
  let port: number;
  let isRefusing = false;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    dns = await startDnsServers({
      zones: { 'slow.example': `@ A ${SLOW}`, 'again.example': `@ A ${SLOW}` },
    });
    slow = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      if (isRefusing) socket.destroy();
    });
    await new Promise<void>((resolve) => slow.listen(0, SLOW, resolve));
    const address = slow.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    homeport = await startTestHomeport({
      roles: { api: true, hosting: false },
      environment: {
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      },
    });
    ({ accountId, owner } = await homeport.ownedAccount());
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    slow?.close();
    await homeport?.remove();
    await dns?.remove();
  });

  /** Requests a report of a name. `run` executes its check until `limit` aborts, and `read` reads it. */
  async function asked(name: string) {
    const install = await homeport.install(owner, accountId);
    const path = `/installs/${install.id}/domains`;
    const domain = text((await owner.client.post(path, { name })).body, 'id');
    const report_id = text((await owner.client.post(`${path}/${domain}/check_status`)).body, 'report_id');
    const tokens = new Set<string>();
    const limit = new AbortController();
    const { internet } = createOutside(homeport.platform, {
      edgePorts: () => ({ http: port, https: port }),
      dnsPort: dns.authority.port,
    });
    const [kind] = domainReportJobKinds(homeport.platform, {
      host: {
        publish: async ({ path }) => void tokens.add(path),
        withdraw: async ({ path }) => void tokens.delete(path),
      },
      internet,
      issuance: null,
      timeLimit: () => limit.signal,
    });
    async function run(signal: AbortSignal): Promise<void> {
      const job = runningJob({ id: report_id, signal, log: silent });
      const completion = await kind?.run({ report_id }, job);
      if (completion) await homeport.platform.database.write(completion);
    }
    const read = async () =>
      field((await owner.client.get(`${path}/check_status/${report_id}`)).body, 'report');
    return { run, read, limit, tokens, domain };
  }

  const never = () => new AbortController().signal;

  it('shows partial results, and ends with them at the timeout', async () => {
    const { run, read, limit, tokens, domain } = await asked('slow.example');
    expect(await read()).toMatchObject({
      complete: false,
      domains: [
        { name: 'slow.example', complete: false, ip: [], result: 'slow.example is being looked up.' },
      ],
    });
    const running = run(never());
    await expect.poll(() => tokens.size).toBe(1);
    const result = 'slow.example is being looked up.';
    await expect.poll(read).toMatchObject({
      complete: false,
      domains: [{ complete: false, a_record: SLOW, address: [SLOW], result }],
    });
    limit.abort();
    await running;
    expect(await read()).toMatchObject({
      complete: true,
      domains: [
        {
          complete: true,
          a_record: SLOW,
          http_error: true,
          ssl: { status: 'none' },
          result: `Set the A record of slow.example to 127.0.0.1; it is ${SLOW} now.`,
        },
      ],
    });
    expect(tokens.size).toBe(0);
    const row = await homeport.platform.database.reader
      .selectFrom('domains')
      .select('reached')
      .where('id', '=', domain)
      .executeTakeFirstOrThrow();
    expect(row.reached).toBe(false);
  });

  it('stays incomplete if the worker stops, and can run again', async () => {
    const { run, read, tokens } = await asked('again.example');
    const stopping = new AbortController();
    const running = run(stopping.signal);
    await expect.poll(() => tokens.size).toBe(1);
    stopping.abort(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
    expect(await read()).toMatchObject({ complete: false });
    expect(tokens.size).toBe(0);
    isRefusing = true;
    await run(never());
    expect(await read()).toMatchObject({ complete: true, domains: [{ a_record: SLOW }] });
  });
});
