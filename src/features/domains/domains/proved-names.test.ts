import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { domainsOf } from './domains.fixture.ts';
import {
  type OwnershipSetup,
  ownershipActivity,
  type Party,
  registrable,
  startOwnership,
  WITHHELD,
} from './ownership.fixture.ts';

let setup: OwnershipSetup;
let alice: Party;
let bob: Party;
beforeAll(async () => {
  setup = await startOwnership();
  [alice, bob] = [await setup.party(), await setup.party()];
});
afterAll(() => setup?.remove());

describe('an account that proves a domain', () => {
  it('takes its name from an account that has not, whose owners learn of it', async () => {
    const [alice, bob] = [await setup.party(), await setup.party()];
    const name = registrable();
    const squatted = await bob.added(bob.install, name, { primary: true });
    await setup.homeport.idle();
    expect(await setup.servedBy(name)).toBe(bob);
    const at = await alice.added(alice.install, name);
    await alice.addRecord(at);
    expect(await setup.servedBy(name)).toBe(bob);
    const verified = await alice.verify(at);
    expect(verified).toEqual({
      id: at,
      name,
      txt_verified_time: setup.clock.now().toISOString(),
      txt_verified_domain: name,
      txt_verification_key: `_homeport-challenge.${name}`,
      txt_verification_value: expect.stringMatching(/^homeport-verification=[\w-]{32}$/),
    });
    expect(await setup.servedBy(name)).toBe(alice);
    expect(await alice.read(alice.install, at)).toMatchObject({
      duplicate: false,
      ownership_status: 'TXT_VERIFIED',
    });
    expect(await bob.read(bob.install, squatted)).toMatchObject({ duplicate: true, ...WITHHELD });
    expect((await bob.owner.client.get(`/installs/${bob.install.id}`)).body).toMatchObject({
      primary_domain: `${bob.install.name}.localhost`,
    });
    expect(await bob.owner.client.get(`${domainsOf(bob.install)}/${squatted}/ssl_certificate`)).toMatchObject(
      NOT_FOUND,
    );
    expect(await ownershipActivity(setup.homeport, alice)).toEqual([
      { action: 'domain.verify', subject_name: name, means: 'api' },
    ]);
    expect(await ownershipActivity(setup.homeport, bob)).toEqual([
      { action: 'domain.lose', subject_name: name, means: 'platform' },
    ]);
    const [mail, ...more] = mailsTo(setup.homeport, bob.owner.email);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({
      subject: `${name} is no longer served by your install ${bob.install.name}`,
    });
    expect(mail?.text).toContain(`/installs/${bob.install.id}`);
    expect(mail?.text).not.toContain(alice.install.name);
    expect(mailsTo(setup.homeport, alice.owner.email)).toEqual([]);
  });

  it('takes it as the primary domain of an install whose own name is redirected to it', async () => {
    const [alice, bob] = [await setup.party(), await setup.party()];
    const name = registrable();
    const squatted = await bob.added(bob.install, name, { primary: true });
    await bob.change(bob.install, await bob.defaultDomain(bob.install), { redirect_to: squatted });
    await alice.prove(await alice.added(alice.install, name));
    expect(await setup.servedBy(name)).toBe(alice);
    expect(await setup.servedBy(`${bob.install.name}.localhost`)).toBe(bob);
  });

  it('gets all names of the domain that it has, and those that it adds later', async () => {
    const base = registrable();
    for (const label of ['a', 'b', 'c']) await bob.added(bob.install, `${label}.${base}`);
    const at = await alice.added(alice.install, `a.${base}`);
    await alice.added(alice.install, `b.${base}`);
    await alice.prove(at);
    expect(await setup.servedBy(`a.${base}`)).toBe(alice);
    expect(await setup.servedBy(`b.${base}`)).toBe(alice);
    expect(await setup.servedBy(`c.${base}`)).toBe(bob);
    await alice.added(alice.install, `c.${base}`);
    expect(await setup.servedBy(`c.${base}`)).toBe(alice);
    const answer = await bob.add(bob.install, `new.${base}`);
    expect(answer).toMatchObject({ status: 201, body: WITHHELD });
  });

  it('takes nothing from another that has proved it too', async () => {
    const base = registrable();
    const first = await alice.added(alice.install, base);
    await alice.prove(first);
    const second = await bob.added(bob.install, base);
    await bob.prove(second);
    expect(await setup.servedBy(base)).toBe(alice);
    await alice.removed(first);
    expect(await setup.servedBy(base)).toBe(bob);
  });

  it('keeps it when the record goes, until another one proves it', async () => {
    const base = registrable();
    const first = await alice.added(alice.install, base);
    await alice.prove(first);
    setup.dns.texts.delete(`_homeport-challenge.${base}`);
    expect(await alice.verify(first)).toMatchObject({ txt_verified_time: expect.any(String) });
    expect(await setup.servedBy(base)).toBe(alice);
    await bob.prove(await bob.added(bob.install, base));
    expect(await setup.servedBy(base)).toBe(bob);
    expect(await alice.read(alice.install, first)).toMatchObject({ duplicate: true, ...WITHHELD });
  });

  it('is recognised by its own value alone, among others and with quotes around', async () => {
    const base = registrable();
    const at = await alice.added(alice.install, base);
    const theirs = await bob.added(bob.install, base);
    const key = `_homeport-challenge.${base}`;
    const value = text(await alice.read(alice.install, at), 'txt_verification_value');
    expect(text(await bob.read(bob.install, theirs), 'txt_verification_value')).not.toBe(value);
    for (const wrong of [
      '',
      'x'.repeat(4_000),
      value.slice(0, -1),
      `${value}x`,
      value.toUpperCase(),
      `v=${value}`,
    ]) {
      setup.dns.texts.set(key, [wrong]);
      expect(await alice.verify(at)).toMatchObject({ txt_verified_time: null });
      expect(await bob.verify(theirs)).toMatchObject({ txt_verified_time: null });
    }
    setup.dns.texts.set(key, ['v=spf1 -all', `" ${value} "`, 'y'.repeat(2_000)]);
    expect(await bob.verify(theirs)).toMatchObject({ txt_verified_time: null });
    expect(await alice.verify(at)).toMatchObject({ txt_verified_time: expect.any(String) });
  });

  it('proves a name below a private suffix for itself, not for its neighbours', async () => {
    const at = await alice.added(alice.install, 'alice.github.io');
    expect(await alice.read(alice.install, at)).toMatchObject({ txt_verified_domain: 'alice.github.io' });
    const idn = await alice.added(alice.install, 'www.bücher.example');
    expect(await alice.read(alice.install, idn)).toMatchObject({
      txt_verified_domain: 'xn--bcher-kva.example',
      txt_verification_key: '_homeport-challenge.xn--bcher-kva.example',
    });
    // Cyrillic letters that look the same are another name.
    const homograph = await bob.added(bob.install, 'www.b\u00fc\u0441her.example');
    await setup.homeport.idle();
    expect(await bob.read(bob.install, homograph)).toMatchObject({
      network_details: { network_info: { status: 'ACTIVE' } },
    });
  });
});
