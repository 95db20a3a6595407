import { type Command, InvalidArgumentError } from 'commander';

interface McpOptions {
  scopes?: string[];
  http?: { host: string; port: number };
  profile?: string;
}

/** `homeport mcp`: the API as tools for assistants. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('offer the API to assistants as tools (Model Context Protocol)')
    .option('--scopes <list>', 'read, write, destructive, separated by commas; read by default', scopesOf)
    .option('--http <address>', 'serve streamable HTTP here in place of standard input and output', addressOf)
    .option('--profile <name>', 'server and credential to use; see "homeport api login"')
    .addHelpText(
      'after',
      '\nExample:\n  homeport mcp --scopes read,write\n  homeport mcp --http 127.0.0.1:8765',
    )
    .action(async ({ scopes = ['read'], http, profile }: McpOptions) => {
      const { serveMcp } = await import('../mcp/serve.ts');
      await serveMcp({ scopes, profile, ...(http === undefined ? {} : { http }) }, process.env);
    });
}

const scopesOf = (text: string) => text.split(',').map((word) => word.trim());

function addressOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535) throw new InvalidArgumentError('It must be HOST:PORT.');
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
