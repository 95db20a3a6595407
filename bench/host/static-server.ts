import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ListenAddress } from '../../src/config/settings/setting-values.ts';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { serve } from '../measure/processes.ts';
import { withCleanup } from './cleanup.ts';

const CGROUP = 'static';

/** An nginx that only serves one file, as fast as nginx can. `folder` must be accessible to all users. */
export async function withStaticServer<Result>(
  folder: string,
  page: string,
  work: (address: ListenAddress) => Promise<Result>,
): Promise<Result> {
  const root = join(folder, 'static');
  await mkdir(root);
  await chmod(root, 0o755);
  await writeFile(join(root, 'index.html'), page, { mode: 0o644 });
  const address = { host: '127.0.0.1', port: await freePort() };
  const file = join(folder, 'static.conf');
  await writeFile(file, staticConfiguration(folder, root, address));
  // In a cgroup like the host's nginx: outside of one, it would get another share of the processors on a busy machine.
  const cgroups = createCgroups({ instance: 'bench', log: pino({ level: 'silent' }) });
  await cgroups.set(CGROUP, null);
  const nginx = ['/usr/sbin/nginx', '-c', file, '-g', 'daemon off;'];
  const server = await serve([...cgroups.enter(CGROUP), ...nginx], {
    origin: `http://${address.host}:${address.port}`,
  });
  const stop = async () => {
    await server.stop();
    await cgroups.remove(CGROUP);
  };
  return withCleanup(stop, () => work(address));
}

/** The configuration of an nginx that only serves files. */
export const staticConfiguration = (
  folder: string,
  root: string,
  { host, port }: ListenAddress,
) => `user www-data;
worker_processes auto;
pid ${folder}/static.pid;
error_log stderr crit;
events {
    worker_connections 4096;
    multi_accept on;
}
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 10000;
    types { text/html html; image/png png; }
    charset utf-8;
    server {
        listen ${host}:${port} backlog=4096;
        root ${root};
        index index.html;
    }
}
`;
