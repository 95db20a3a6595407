import type { Command } from 'commander';
import { OPERATOR_COMMANDS, type OperatorCommand, type SubjectKind } from './commands.ts';

const ARGUMENTS: Record<SubjectKind, [name: string, description: string]> = {
  account: ['account', 'its name or id'],
  site: ['site', 'its name or id'],
  install: ['install', 'its name or id'],
  domain: ['domain', 'its name or id'],
  backup: ['backup-id', 'the backup ("homeport backup list")'],
  user: ['email', 'the user ("homeport user list")'],
  operation: ['operation-id', 'the operation ("homeport operation list")'],
};

/**
 * Adds the commands of a group that are operations of the API. Their options follow from the description, which is read when one of them
 * runs or shows its help.
 */
export function addOperatorCommands(group: Command): void {
  const declared = new Map<Command, OperatorCommand>();
  for (const spec of OPERATOR_COMMANDS.filter((one) => one.group === group.name())) {
    const command = group.command(spec.name).description(spec.summary);
    if (spec.subject !== null)
      command.argument(`<${ARGUMENTS[spec.subject][0]}>`, ARGUMENTS[spec.subject][1]);
    command.addHelpText('after', `\nExample:\n  homeport ${spec.group} ${spec.name} ${spec.example}`);
    declared.set(command, spec);
  }
  if (declared.size === 0) return;
  group.hook('preSubcommand', async (_group, command) => {
    const spec = declared.get(command);
    if (spec === undefined) return;
    const { completeCommand } = await import('./complete.ts');
    completeCommand(command, spec);
  });
}
