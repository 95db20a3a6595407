import type { Command, Route } from './command.ts';
import { COMMANDS } from './commands.ts';

type Commands = typeof COMMANDS;

/** The method of a host that a command calls. */
export type CommandName = keyof Commands;

type Types<Name extends CommandName> = NonNullable<Commands[Name]['types']>;
type Sent = { [Name in CommandName]: Types<Name>['sent'] };
type Called = { [Name in CommandName]: Types<Name>['called'] };
type Result = { [Name in CommandName]: Types<Name>['result'] };

/** The table, typed so that a function for every name can use the row of the name. */
export const COMMAND_OF: { [Name in CommandName]: Command<Sent[Name], Called[Name], Result[Name]> } =
  COMMANDS;

/** The method of that name, as callers see it. */
export type HostMethod<Name extends CommandName> = (...args: Sent[Name]) => Promise<Result[Name]>;
export type HostMethods = { [Name in CommandName]: HostMethod<Name> };

/** The methods of a host, as messages call them. */
export type CalledMethods = {
  [Name in CommandName]: (...args: Called[Name]) => Promise<Result[Name]>;
};

/** Names of the commands with that route. */
export type RoutedTo<To extends Route> = {
  [Name in CommandName]: Commands[Name]['route'] extends To ? Name : never;
}[CommandName];

const isCommandName = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

export const COMMAND_NAMES: readonly CommandName[] = Object.keys(COMMANDS).filter(isCommandName);

/** The names of the commands with that route. */
export function routedTo<To extends Route>(route: To): RoutedTo<To>[] {
  const isRouted = (name: CommandName): name is RoutedTo<To> => COMMANDS[name].route === route;
  return COMMAND_NAMES.filter(isRouted);
}

/** An object with the methods of these names, each made by `make`. */
export function methodsFor<Name extends CommandName>(
  names: readonly Name[],
  make: <One extends Name>(name: One) => HostMethod<One>,
): Pick<HostMethods, Name> {
  const made: Partial<Record<Name, unknown>> = {};
  for (const name of names) made[name] = make(name);
  const isWhole = (some: object): some is Pick<HostMethods, Name> => names.every((name) => name in some);
  if (isWhole(made)) return made;
  throw new Error('a method is missing');
}
