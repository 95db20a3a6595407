import Type from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../homeport.ts';
import { enrol } from '../one-time-codes.ts';
import { createPortalClient, PASSWORD, signedIn } from '../portal-client.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

let homeport: TestHomeport;
let environment: Environment;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  environment = await environmentFor(homeport.place, { HOMEPORT_PUBLIC_URL: homeport.origin });
});
afterAll(() => homeport.remove());

test('a link from the command line sets a password in the portal, once; the one before is dead', async () => {
  const { email } = await homeport.person();
  const links = [];
  for (let times = 0; times < 2; times++) {
    const { code, stdout, stderr } = await call(environment, 'user', 'password-link', email.toUpperCase());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${homeport.origin}/password/[\\w-]{32}\n$`));
    links.push(stdout.trim());
  }
  const [first = '', second = ''] = links.map((link) => link.slice(link.lastIndexOf('/') + 1));
  const browser = createPortalClient(homeport);
  const set = (token: string) => browser.post(`/password_links/${token}`, { password: PASSWORD });
  expect((await browser.get(`/password_links/${second}`)).body).toMatchObject({ email, purpose: 'first' });
  expect((await set(first)).status).toBe(404);
  expect((await set(second)).status).toBe(204);
  expect((await set(second)).status).toBe(404);
  expect((await browser.signIn(email, PASSWORD)).status).toBe(200);
});

test('turns off a lost second factor after confirmation', async () => {
  const person = await homeport.person();
  await enrol(await signedIn(homeport, person), new Date());
  const words = ['user', 'reset-second-factor', person.email];
  expect(await call(environment, ...words)).toEqual({
    code: 1,
    stdout: '',
    stderr: `homeport: The password alone then signs ${person.email} in. Without a terminal, add --yes.\n`,
  });
  expect(await call(environment, ...words, '--yes')).toMatchObject({
    code: 0,
    stdout: `Turned off the second factor of ${person.email} and ended their sessions.\n`,
  });
  expect((await createPortalClient(homeport).signIn(person.email, PASSWORD)).body).toEqual({ stage: 'full' });
  expect(await call(environment, ...words, '--yes')).toMatchObject({
    code: 0,
    stdout: `${person.email} has no second factor.\n`,
  });
});

test('changes address and name of a user, but not to an address in use', async () => {
  const [person, other] = [await homeport.person(), await homeport.person()];
  const email = `frida-${person.userId}@people.example`;
  const change = (...words: string[]) => call(environment, 'user', 'change', ...words);
  expect(await change(person.email, '--email', email, '--first-name', ' Frida ')).toEqual({
    code: 0,
    stdout: `Changed: Frida Person, ${email}.\n`,
    stderr: '',
  });
  expect((await person.client.get('/user')).body).toMatchObject({ email, first_name: 'Frida' });
  for (const [words, sentence] of [
    [[email, '--email', other.email], `Another user has the address ${other.email}.`],
    [[email, '--email', 'frida'], 'This is not an email address.'],
    [[email], 'Name a change: --email, --first-name, --last-name or --operator.'],
    [
      [person.email, '--last-name', 'Full'],
      `There is no user with the address ${person.email}. List users with "homeport user list".`,
    ],
  ] as const) {
    expect(await change(...words)).toEqual({ code: 1, stdout: '', stderr: `homeport: ${sentence}\n` });
  }
});

test('makes a user an operator, and none again', async () => {
  const person = await homeport.person();
  const change = (...words: string[]) => call(environment, 'user', 'change', person.email, ...words);
  const isOperator = async () =>
    Value.Parse(
      Type.Array(Type.Object({ id: Type.String(), is_operator: Type.Boolean() })),
      await callJson(environment, 'user', 'list'),
    ).find(({ id }) => id === person.userId)?.is_operator;
  expect(await isOperator()).toBe(false);
  expect((await change('--operator')).stdout).toMatch(/, an operator\.\n$/);
  expect(await isOperator()).toBe(true);
  expect((await change('--no-operator')).stdout).toMatch(/, no operator\.\n$/);
  expect(await isOperator()).toBe(false);
});
