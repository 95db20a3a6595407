/** The settings of the proxy, as Node and programs such as restic read them from an environment. */
export interface ProxyVariables {
  HTTP_PROXY?: string;
  HTTPS_PROXY?: string;
  NO_PROXY?: string;
}

export interface ProxySettings {
  httpProxy: string | null;
  httpsProxy: string | null;
  noProxy: string | null;
}

/** Requests to this machine itself never go through a proxy. */
const THIS_MACHINE = ['localhost', '.localhost', '127.0.0.1', '::1', '[::1]'];

/** Empty without a proxy. */
export function proxyVariables({ httpProxy, httpsProxy, noProxy }: ProxySettings): ProxyVariables {
  if (httpProxy === null && httpsProxy === null) return {};
  return {
    ...(httpProxy === null ? {} : { HTTP_PROXY: httpProxy }),
    ...(httpsProxy === null ? {} : { HTTPS_PROXY: httpsProxy }),
    NO_PROXY: [...THIS_MACHINE, ...hostsIn(noProxy)].join(','),
  };
}

let variables: ProxyVariables = {};

/**
 * Makes this process use the proxy for `fetch`, and for the agents and programs that get {@link proxyOfAgents} and
 * {@link proxyOfPrograms}. A proxy belongs to a process, as with curl (docs/decisions/connections.md). Other requests stay direct: those of
 * domain checks, and between parts of Homeport. Returns a function that takes it back.
 */
export function setOutboundProxy(settings: ProxySettings): () => void {
  const before = variables;
  variables = proxyVariables(settings);
  if (Object.keys(variables).length === 0) return () => (variables = before);
  // The modules themselves: an import of their names cannot be assigned to.
  const [http, https] = [process.getBuiltinModule('node:http'), process.getBuiltinModule('node:https')];
  const [plainHttp, plainHttps] = [http.globalAgent, https.globalAgent];
  const restore = http.setGlobalProxyFromEnv({ ...variables });
  [http.globalAgent, https.globalAgent] = [plainHttp, plainHttps];
  return () => {
    restore();
    variables = before;
  };
}

/** Options of an http(s) Agent for requests to the outside. */
export const proxyOfAgents = (): { proxyEnv?: NodeJS.ProcessEnv } =>
  Object.keys(variables).length === 0 ? {} : { proxyEnv: { ...variables } };

/** The environment of a program that sends requests to the outside. */
export const proxyOfPrograms = (): Record<string, string> => ({ ...variables });

/** The proxy for a request to a URL; null if it goes there directly. */
export function proxyFor(
  target: URL,
  { HTTP_PROXY, HTTPS_PROXY, NO_PROXY = '' }: ProxyVariables,
): URL | null {
  const proxy = target.protocol === 'https:' ? HTTPS_PROXY : HTTP_PROXY;
  if (proxy === undefined) return null;
  const host = target.hostname.toLowerCase();
  const isExcepted = hostsIn(NO_PROXY).some((entry) => {
    const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*\./, '.')) ?? [];
    if (entry === '*' || entry.toLowerCase() === host) return true;
    if (port !== undefined && port !== portOf(target)) return false;
    return name === host || (name.startsWith('.') && (host.endsWith(name) || host === name.slice(1)));
  });
  return isExcepted ? null : new URL(proxy);
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

const hostsIn = (list: string | null): string[] =>
  (list ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
