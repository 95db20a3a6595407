export { CommandError, type CommandOptions, runCommand, succeeds } from '../../../lib/run-command.ts';
