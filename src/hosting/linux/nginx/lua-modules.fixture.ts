import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '../../policy/edge.fixture.ts';

/** The Lua modules of the edge in an nginx that serves nothing else. */
export interface LuaModules {
  /** Calls a function of a module, once for each list of arguments. Returns the values of each call, at least two. */
  call(module: string, name: string, calls: unknown[][]): Promise<unknown[][]>;
  close(): Promise<void>;
}

const FOLDER = join(import.meta.dirname, 'lua');

const PROGRAM = `
        ngx.req.read_body()
        local cjson = require "cjson"
        local asked = cjson.decode(ngx.req.get_body_data())
        local called = require(asked.module)[asked.name]
        local results = {}
        for index, arguments in ipairs(asked.calls) do
            local outcome = { pcall(called, unpack(arguments)) }
            if not table.remove(outcome, 1) then
                ngx.status = 500
                return ngx.print(outcome[1])
            end
            results[index] = outcome
            for place = 1, 2 do
                if results[index][place] == nil then results[index][place] = cjson.null end
            end
        end
        ngx.print(cjson.encode(results))`;

export async function startLuaModules(): Promise<LuaModules> {
  const folder = await mkdtemp(join(tmpdir(), 'lua-modules-'));
  const socket = join(folder, 'lua.sock');
  const configuration = join(folder, 'nginx.conf');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  await writeFile(
    configuration,
    `load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log stderr error;
events { worker_connections 64; }
http {
    access_log off;
    ${places.join('\n    ')}
    lua_package_path "${FOLDER}/?.lua;;";
    lua_shared_dict edge_limits 1m;
    lua_regex_match_limit 20000;
    server {
        listen unix:${socket};
        client_max_body_size 4m;
        client_body_buffer_size 4m;
        location / { content_by_lua_block {${PROGRAM}
        } }
    }
}
`,
  );
  const errors: string[] = [];
  const nginx: ChildProcess = spawn('/usr/sbin/nginx', ['-c', configuration, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  nginx.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));

  async function call(module: string, name: string, calls: unknown[][]): Promise<unknown[][]> {
    const asked = request({ socketPath: socket, method: 'POST', path: '/', agent: false });
    asked.end(JSON.stringify({ module, name, calls }));
    const [response] = await once(asked, 'response');
    const answer = await text(response);
    if (response.statusCode !== 200) throw new Error(`${module}.${name} failed: ${answer}`);
    return JSON.parse(answer);
  }

  await eventually(async () => {
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${errors.join('')}`);
    return call('redirects', 'target', []).then(
      () => true,
      () => false,
    );
  });
  return {
    call,
    async close() {
      nginx.kill('SIGTERM');
      if (nginx.exitCode === null) await once(nginx, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}
