import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { enrol } from '../one-time-codes.ts';
import { signedIn } from '../portal-client.ts';
import { call } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

let homeport: TestHomeport;
let environment: Environment;

beforeAll(async () => {
  homeport = await startTestHomeport();
  environment = await environmentFor(homeport.place, { HOMEPORT_PUBLIC_URL: homeport.origin });
});
afterAll(() => homeport.remove());

/** Does what the operator does, and gives what the person was mailed of it. */
async function told(person: Person, subject: string, ...words: string[]): Promise<string> {
  expect(await call(environment, ...words)).toMatchObject({ code: 0, stderr: '' });
  await homeport.idle();
  const [mail, ...more] = mailsTo(homeport, person.email).filter((one) => one.subject === subject);
  expect(more).toEqual([]);
  const text = mail?.text ?? '';
  expect(text).toMatch(/\nWhen: +\d{4}-\d\d-\d\d \d\d:\d\d UTC\nWith: +the command line of your provider\n/);
  expect(text).toContain('If this was not you');
  expect(text).toContain(`${homeport.origin}/me/security`);
  return text;
}

test('a second factor that the operator switches off', async () => {
  const person = await homeport.person();
  await enrol(await signedIn(homeport, person), new Date());
  const words = ['user', 'reset-second-factor', person.email, '--yes'];
  await told(person, 'Your second factor was switched off', ...words);
});

test('an address changed by the operator notifies the old address; a name notifies no one', async () => {
  const person = await homeport.person();
  await signedIn(homeport, person);
  expect(await call(environment, 'user', 'change', person.email, '--first-name', 'Frida')).toMatchObject({
    code: 0,
  });
  const email = `frida-${person.userId}@people.example`;
  const subject = 'Your email address was changed';
  const text = await told(person, subject, 'user', 'change', person.email, '--email', email);
  expect(text).toContain('Hello Frida,');
  expect(mailsTo(homeport, person.email)).toHaveLength(1);
  expect(mailsTo(homeport, email)).toEqual([]);
});

test('a credential that the operator makes', async () => {
  const person = await homeport.person();
  await signedIn(homeport, person);
  const words = ['credential', 'create', '--user', person.email, '--name', 'deployment', '--read-only'];
  const text = await told(person, 'A new API credential was created', ...words);
  expect(text).toContain('Name:     deployment\nMay:      read what you can, in all your accounts\n');
});
