import { expect, it } from 'vitest';
import { ENDPOINTS } from '../../../test/contract/endpoint-table.ts';
import { readEndpoints, wordsOf } from './endpoints.ts';
import { createApiProgram } from './program.ts';

const program = createApiProgram({});
const PROFILES = ['login', 'logout', 'profiles', 'help'];

it('has a command for every endpoint', () => {
  const names = program.commands.map((command) => command.name()).filter((name) => !PROFILES.includes(name));
  expect(names).toHaveLength(ENDPOINTS.length);
});

it.each(readEndpoints())('$id has words of several letters, of one kind each', ({ id }) => {
  const words = wordsOf(id);
  expect(words.join('')).toBe(id.toLowerCase());
  for (const word of words) expect(word, words.join(' ')).toMatch(/^[a-z0-9]{2,}$/);
  expect(words.join(' ')).not.toContain('word press');
});

it.each([
  ['getWordPress', 'get wordpress'],
  ['listWordPressUpdates', 'list wordpress updates'],
  ['importThirdPartySSLCertificate', 'import third party ssl certificate'],
  ['getSslCertificate', 'get ssl certificate'],
  ['verifyDomainTxtRecord', 'verify domain txt record'],
  ['runWpCli', 'run wp cli'],
  ['swagger', 'swagger'],
])('%s reads "%s"', (id, words) => expect(wordsOf(id).join(' ')).toBe(words));

it.each(program.commands.map((command) => [command.name(), command] as const))(
  '%s --help explains each argument and option',
  (_name, command) => {
    const help = command.helpInformation();
    for (const line of help.match(/^ {2}(-|[a-z]+-id).*$/gm) ?? [])
      expect(line).toMatch(/^ {2}\S.*\S {2,}\S/);
    expect(command.description()).not.toBe('');
  },
);
