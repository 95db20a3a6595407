import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { MailState } from '../../../hosting/contract/mail.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../../hosts/fleet.fixture.ts';

const counts = {
  hasRelay: true,
  limitPerHour: 200,
  sentLastHour: 7,
  queued: 1,
  sender: 'shop@shop.localhost',
};

let machine: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** The mail limits that the host was given. */
let applied: (MailState | null | undefined)[];

beforeAll(async () => {
  machine = await serveMachine();
  const { apply } = machine.machine;
  machine.machine.apply = (state, signal) => {
    applied.push(state.mail);
    return apply(state, signal);
  };
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  applied = [];
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  applied = [];
  answerWith(async () => counts);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answerWith(readMail: HostMachine['readMail']): void {
  machine.machine.readMail = readMail;
}

const path = () => `/installs/${install.id}/mail`;
const limit = (limit_per_hour: unknown, { client } = owner) => client.patch(path(), { limit_per_hour });
const shown = {
  limit_per_hour: 200,
  most_per_hour: 200,
  sent_last_hour: 7,
  queued: 1,
  sender: 'shop@shop.localhost',
  can_send: true,
  // Hosts of earlier versions list nothing, which is not the same as an empty list.
  last_refused: null,
};

describe('GET /installs/{install_id}/mail', () => {
  it('shows what the host counts', async () => {
    expect(await owner.client.get(path())).toMatchObject({ status: 200, body: shown });
  });

  it('shows the last refused messages', async () => {
    const refused = {
      time: '2026-03-02T02:10:00.000Z',
      reason: 'the limit is reached',
      recipients: ['a@x.example'],
    };
    answerWith(async () => ({ ...counts, refusals: [refused] }));
    const { time, ...rest } = refused;
    expect(await owner.client.get(path())).toMatchObject({
      status: 200,
      body: { ...shown, last_refused: [{ refused_at: time, ...rest }] },
    });
  });

  it('is for users of the install', async () => {
    const other = await homeport.ownedAccount();
    expect(await other.owner.client.get(path())).toMatchObject(NOT_FOUND);
    expect(await limit(1, other.owner)).toMatchObject(NOT_FOUND);
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    expect((await partial.client.get(path())).status).toBe(200);
  });

  it('is refused without PHP, and gets a 502 if the host fails', async () => {
    answerWith(async () => ({ refused: 'website', reason: 'It has no PHP.' }));
    expect(await owner.client.get(path())).toMatchObject({
      status: 409,
      body: { message: 'It has no PHP.' },
    });
    answerWith(() => Promise.reject(new Error('the disk is full')));
    expect(await owner.client.get(path())).toMatchObject({ status: 502 });
    expect(await limit(1)).toMatchObject({ status: 502 });
  });
});

describe('PATCH /installs/{install_id}/mail', () => {
  it('passes the limit to the host, and removes it', async () => {
    const answer = await limit(5);
    expect(answer).toMatchObject({
      status: 200,
      headers: { location: expect.stringContaining('/operations/') },
      body: { ...shown, limit_per_hour: 5 },
    });
    await homeport.idle();
    expect(applied.at(-1)).toEqual({ perHour: 5 });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'install.update_mail',
      install_id: install.id,
      details: { limit_per_hour: 5 },
    });
    expect(await limit(null)).toMatchObject({ body: { limit_per_hour: 200 } });
    await homeport.idle();
    expect(applied.at(-1)).toBeUndefined();
  });

  it.each([-1, 1.5, '5', 1_000_001])('refuses %j', async (wrong) => {
    expect((await limit(wrong)).status).toBe(400);
  });

  it('is limited by the operator', async () => {
    const tooLarge = 'limit_per_hour can be at most 200; ask your provider to raise it';
    expect(await limit(201)).toMatchObject(
      refusal('InstallMail.limit_per_hour', 'invalid_value / too_large', tooLarge),
    );
    await homeport.services.mail.allow(install.name, 500);
    expect(await limit(400)).toMatchObject({ body: { limit_per_hour: 400, most_per_hour: 500 } });
    await homeport.services.mail.allow(install.name, 300);
    await homeport.idle();
    expect(applied.at(-1)).toEqual({ perHour: 300 });
    await homeport.services.mail.allow(install.name, null);
    await limit(null);
    await homeport.idle();
    expect(await homeport.services.mail.getAsOperator(install.name)).toMatchObject({ limitPerHour: 200 });
    await expect(homeport.services.mail.allow('nothing', 1)).rejects.toThrow(/There is no install "nothing"/);
  });
});
