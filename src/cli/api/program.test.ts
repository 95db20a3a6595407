import { expect, it } from 'vitest';
import { ENDPOINTS } from '../../../packages/client/src/index.ts';
import { createApiProgram } from './program.ts';

const program = createApiProgram({});
const PROFILES = ['login', 'logout', 'profiles', 'help'];

it('has a command for every endpoint', () => {
  const names = program.commands.map((command) => command.name()).filter((name) => !PROFILES.includes(name));
  const ids = names.map((name) => name.replaceAll(/-([a-z])/g, (_match, letter) => letter.toUpperCase()));
  expect(ids.sort()).toEqual(Object.keys(ENDPOINTS).sort());
});

it.each(program.commands.map((command) => [command.name(), command] as const))(
  '%s --help explains each argument and option',
  (_name, command) => {
    const help = command.helpInformation();
    for (const line of help.match(/^ {2}(-|[a-z]+-id).*$/gm) ?? [])
      expect(line).toMatch(/^ {2}\S.*\S {2,}\S/);
    expect(command.description()).not.toBe('');
  },
);
