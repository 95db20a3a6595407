export {
  CommandError,
  type CommandOptions,
  killGroup,
  runCommand,
  succeeds,
} from '../../../lib/run-command.ts';
