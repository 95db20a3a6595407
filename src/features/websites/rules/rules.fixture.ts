import { text } from '../../../../test/client.ts';
import { type Visit, visit } from '../../../../test/edge.ts';
import { installName, type Person, type TestHomeport } from '../../../../test/homeport.ts';

export type Install = { id: string; name: string };

/** Calls about the rules of installs, and visits that show whether the edge obeys. */
export function ruleCalls(present: () => { homeport: TestHomeport; accountId: string; owner: Person }) {
  const waitFor = async (location: unknown) => {
    const { homeport, owner } = present();
    const path = new URL(String(location), homeport.origin).pathname.replace(/^\/v1/, '');
    for (;;) {
      const operation = await owner.client.get(`${path}?wait=10`);
      const status = text(operation.body, 'status');
      if (status === 'succeeded') return;
      if (status !== 'queued' && status !== 'running') throw new Error(JSON.stringify(operation.body));
    }
  };
  return {
    /** An install in an environment, once its website answers. */
    async install(environment: string | null = null): Promise<Install> {
      const { owner, accountId } = present();
      const name = installName();
      const site =
        environment === null
          ? {}
          : {
              site_id: text((await owner.client.post('/sites', { name, account_id: accountId })).body, 'id'),
            };
      const made = await owner.client.post('/installs', {
        name,
        account_id: accountId,
        environment,
        ...site,
      });
      await waitFor(made.headers.location);
      return { id: text(made.body, 'id'), name };
    },
    /** Calls the API, and waits until the edge obeys. */
    async change(method: 'POST' | 'PATCH' | 'DELETE', path: string, json?: object) {
      const answer = await present().owner.client.call(method, path, json === undefined ? {} : { json });
      if (answer.status < 300 && answer.headers.location !== undefined)
        await waitFor(answer.headers.location);
      return answer;
    },
    visitName: (name: string): Promise<Visit> => visit(present().homeport, `http://${name}/`),
    visit: ({ name }: Install, path = '/', headers: Record<string, string> = {}): Promise<Visit> =>
      visit(present().homeport, `http://${name}.localhost${path}`, headers),
  };
}

export const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
