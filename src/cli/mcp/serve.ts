import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { HomeportError } from '../../../packages/client/src/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { systemRandomness } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { clientOf, connect } from '../api/call.ts';
import { readEndpoints } from '../api/endpoints.ts';
import { connectionOf } from '../api/profiles.ts';
import { stopSignal } from '../terminal/stop-signals.ts';
import { createConfirmations } from './confirmations.ts';
import { createMcpHttpServer } from './http.ts';
import { createMcpServer } from './server.ts';
import { SCOPES, type Scope, toolsOf } from './tools.ts';

export interface McpChoices {
  scopes: string[];
  http?: { host: string; port: number };
  profile: string | undefined;
}

/** Serves MCP until the client goes away or the process is told to stop. Throws OperatorError. */
export async function serveMcp(
  { scopes, http, profile }: McpChoices,
  environment: Record<string, string | undefined>,
): Promise<void> {
  const tools = toolsOf(readEndpoints(), checkedScopes(scopes));
  const confirmations = () => createConfirmations(systemClock, systemRandomness);
  const connection = connectionOf(environment, profile);
  const client = connect(connection);
  if (http === undefined) {
    await createMcpServer(client, tools, confirmations()).connect(new StdioServerTransport());
    return;
  }
  // Only the address and the certificate are used: each request brings its own credential.
  const server = createMcpHttpServer(
    http,
    (credential) => createMcpServer(clientOf({ ...connection, ...credential }), tools, confirmations()),
    async (credential) => {
      try {
        await clientOf({ ...connection, ...credential }).call('getCurrentUser');
        return true;
      } catch (error) {
        if (error instanceof HomeportError && error.status === 401) return false;
        throw error;
      }
    },
    () => systemClock.now().getTime(),
  );
  server.listen(http.port, http.host);
  await once(server, 'listening');
  process.stderr.write(
    `MCP is at http://${http.host}:${http.port}/ with ${tools.length} tools. Ctrl-C ends it.\n`,
  );
  await stopSignal('closing');
  server.closeAllConnections();
  server.close();
}

function checkedScopes(words: string[]): Set<Scope> {
  const scopes = SCOPES.filter((scope) => words.includes(scope));
  if (scopes.length === 0 || words.some((word) => !SCOPES.some((scope) => scope === word))) {
    throw new OperatorError(`--scopes must be some of ${SCOPES.join(', ')}, separated by commas.`);
  }
  return new Set(scopes);
}
