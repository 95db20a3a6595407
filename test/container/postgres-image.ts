import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.ts';

/** As compose.production.yaml names it, in full. */
const IMAGE = 'docker.io/library/postgres:17';

/** Debian 13 has PostgreSQL 17. As in the image of the registry, the first start makes a cluster, and names come from the environment. */
const dockerfile = (base: string) => `FROM ${base}
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql && rm -rf /var/lib/apt/lists/* \\
 && install --directory --owner postgres --mode 700 /var/lib/postgresql/data
COPY --chmod=755 entrypoint /
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data
USER postgres
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["/entrypoint"]
`;

const ENTRYPOINT = `#!/bin/sh
set -e
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" > /tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --encoding UTF8 --locale C.UTF-8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --wait --options '-c listen_addresses=' start
  createdb --username "$POSTGRES_USER" "$POSTGRES_USER"
  pg_ctl --wait stop
fi
exec postgres -c 'listen_addresses=*'
`;

/** Makes an image of PostgreSQL from Debian's packages, in place of that of a registry, unless the engine has one. Says which it is. */
export async function loadPostgres(engine: Engine, base: string): Promise<string> {
  if ((await engine.run(['images', '--quiet', IMAGE])) !== '') return 'present';
  const folder = await mkdtemp(join(tmpdir(), 'homeport-postgres-'));
  try {
    await writeFile(join(folder, 'Dockerfile'), dockerfile(base));
    await writeFile(join(folder, 'entrypoint'), ENTRYPOINT);
    await engine.run(['build', '--network', 'host', '--tag', IMAGE, '.'], { folder });
  } finally {
    await rm(folder, { recursive: true });
  }
  return "made from Debian's packages";
}
