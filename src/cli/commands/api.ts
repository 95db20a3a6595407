import type { Command } from 'commander';

/** `homeport api …`: the commands come from the description, which is read when one of them runs. */
export function addApiCommand(program: Command): void {
  program
    .command('api')
    .description('call the API of a server, on this machine or another')
    .argument('[command...]', 'an endpoint, such as list-installs, and its options; --help lists them')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (_words: string[], _options: object, command: Command) => {
      const { createApiProgram } = await import('../api/program.ts');
      await createApiProgram(process.env).parseAsync(command.args, { from: 'user' });
    });
}
