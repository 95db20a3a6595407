import { afterAll, beforeAll, expect, it } from 'vitest';
import { databasePlace } from '../../../../test/database.ts';
import { visit } from '../../../../test/edge.ts';
import { startTestHomeport } from '../../../../test/homeport.ts';
import { operatorFor } from '../../../access/caller.ts';
import { portalHostOf } from './portal-host.ts';

let place: Awaited<ReturnType<typeof databasePlace>>;
beforeAll(async () => {
  place = await databasePlace();
});
afterAll(() => place.remove());

it('is the host of the public URL in stored form', () => {
  for (const [publicUrl, host] of [
    ['https://Panel.Provider.example:8443', 'panel.provider.example'],
    ['https://panel.provider.example.', 'panel.provider.example'],
    ['https://bücher.example', 'xn--bcher-kva.example'],
    ['https://localhost:8443', 'localhost'],
  ] as const) {
    expect(portalHostOf({ publicUrl })).toBe(host);
  }
});

it('cannot be added to a website, and is no longer served by one that had it', async () => {
  const before = await startTestHomeport({ place });
  const { accountId, owner } = await before.ownedAccount();
  const install = await before.install(owner, accountId);
  const domains = `/installs/${install.id}/domains`;
  const names = ['panel.provider.example', 'www.provider.example', '*.provider.example'];
  for (const name of names) expect((await owner.client.post(domains, { name })).status).toBe(201);
  await before.idle();
  expect((await visit(before, 'http://panel.provider.example/')).status).toBe(200);
  await before.remove();

  const homeport = await startTestHomeport({
    place,
    environment: { HOMEPORT_PUBLIC_URL: 'https://panel.provider.example' },
  });
  try {
    await homeport.services.installs.applyAgain(install.name);
    await homeport.idle();
    const statusOf = async (name: string) => (await visit(homeport, `http://${name}/`)).status;
    expect(await statusOf('panel.provider.example')).toBe(404);
    expect(await statusOf('www.provider.example')).toBe(200);
    const { domains: service } = homeport.services;
    const caller = operatorFor(owner.userId);
    const second = await homeport.services.installs.create(caller, { name: 'second', account_id: accountId });
    await expect(service.create(caller, second.id, { name: 'panel.provider.example' })).rejects.toMatchObject(
      {
        message: 'panel.provider.example is the address of this portal; no website can use it',
        faults: [{ resource: 'Domain', field: 'name', type: 'invalid_value', code: 'reserved' }],
      },
    );
    await expect(
      service.createBulk(caller, second.id, [
        { name: 'a.www.provider.example' },
        { name: '*.provider.example' },
      ]),
    ).rejects.toMatchObject({
      faults: [{ field: 'domains.1.name', type: 'invalid_value', code: 'reserved' }],
    });
    await service.create(caller, second.id, { name: 'a.www.provider.example' });
  } finally {
    await homeport.remove();
  }
});
