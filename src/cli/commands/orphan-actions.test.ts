import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from '../../../test/cli/call-homeport.ts';
import { type Environment, environmentFor } from '../../../test/cli/run-homeport.ts';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { environment as fleetEnvironment } from '../../features/hosts/fleet.fixture.ts';
import { allOrphans, replaceOrphans } from '../../features/provisioning/orphan-store.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { timestamp } from '../../lib/clock.ts';

let web1: ServedMachine;
let web2: ServedMachine;
let homeport: TestHomeport;
let environment: Environment;
let install: { id: string; name: string };
/** The files of each place of backups, by the machine that has it there. */
let places: Map<ServedMachine, Map<string, Buffer>>;
/** The removals that `web2` was asked for. */
let removed: { id: string; keepBackups: boolean }[];

beforeAll(async () => {
  web1 = await serveMachine({ movesWebsites: true });
  web2 = await serveMachine({ movesWebsites: true });
  homeport = await startTestHomeport({ environment: fleetEnvironment(web1.runFolder) });
  const { accountId, owner } = await homeport.ownedAccount();
  install = await homeport.install(owner, accountId);
  const port = await freePort();
  const { identity } = await homeport.services.hosts.add('web2', `https://127.0.0.1:${port}`);
  web2.description.id = parseIdentity(identity).hostId;
  for (const machine of [web1, web2]) {
    const files = () => places.get(machine) ?? new Map<string, Buffer>();
    machine.machine.readRepository = async (_install, name) => {
      const content = files().get(name);
      if (content === undefined) throw new PermanentHostError('There is no such file.');
      return content;
    };
    machine.machine.writeRepository = async (_install, name, { content }) => {
      files().set(name, Buffer.from(content, 'base64'));
    };
    machine.machine.trimRepository = async (_install, names) => {
      for (const name of names) files().delete(name);
    };
  }
  web2.machine.remove = async ({ id }, { keepBackups = false } = {}) => {
    removed.push({ id, keepBackups });
  };
  await web2.listenTls(parseIdentity(identity), port);
  environment = await environmentFor(homeport.place, fleetEnvironment(web1.runFolder));
});
afterAll(async () => {
  await homeport?.remove();
  await web1?.close();
  await web2?.close();
});

/** Discards what web2 has left of an install. */
async function discard(id: string) {
  removed = [];
  const found_at = timestamp(homeport.platform.clock);
  const orphan = { id, name: install.name, hostnames: [], is_served: false, found_at };
  await homeport.platform.database.write(({ queries }) =>
    replaceOrphans(queries, web2.description.id, [orphan]),
  );
  return call(environment, 'install', 'discard', id, '--yes');
}

it('keeps the backups of an install that another machine has and keeps in the same place', async () => {
  const shared = new Map<string, Buffer>();
  places = new Map([web1, web2].map((machine) => [machine, shared]));
  expect(await discard(install.id)).toMatchObject({ code: 0 });
  expect(removed).toEqual([{ id: install.id, keepBackups: true }]);
  expect([...shared]).toEqual([]);

  places = new Map([web1, web2].map((machine) => [machine, new Map()]));
  expect(await discard(install.id)).toMatchObject({ code: 0 });
  expect(removed).toEqual([{ id: install.id, keepBackups: false }]);
  expect(await allOrphans(homeport.platform.database.reader)).toEqual([]);
});

it('removes nothing while it cannot tell whose backups they are', async () => {
  places = new Map();
  web2.description.movesWebsites = false;
  expect(await discard(install.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Upgrade it first'),
  });
  web2.description.movesWebsites = true;
  await web1.down();
  expect(await discard(install.id)).toMatchObject({ code: 1 });
  await web1.up();
  expect(removed).toEqual([]);
  expect(await allOrphans(homeport.platform.database.reader)).toHaveLength(1);
});

it('removes an install that nobody knows with its backups', async () => {
  places = new Map();
  const id = homeport.platform.random.uuid();
  expect(await discard(id)).toMatchObject({ code: 0 });
  expect(removed).toEqual([{ id, keepBackups: false }]);
});
