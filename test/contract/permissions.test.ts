import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timestamp } from '../../src/lib/clock.ts';
import { type Answer, field } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { manualClock } from '../manual-clock.ts';
import { isLong, rounds } from '../rounds.ts';
import {
  bestStatus,
  ENDPOINTS,
  type EndpointRow,
  HIDDEN,
  idsOf,
  MESSAGES,
  nameOf,
  REFUSED,
} from './endpoint-table.ts';
import { WITH_WORDPRESS } from './logins.ts';
import {
  absentResources,
  bodyFor,
  createResources,
  pathTo,
  pathWith,
  type ResourceSet,
} from './resource-set.ts';

/** The callers. The first five are members of the account that "given" and "other" are in. */
const CALLERS = [
  'owner',
  'full',
  'full,billing',
  'partial with', // the install "given" is given to them
  'partial without', // no install is given to them
  'outsider', // owner of another account
  'nobody', // member of no account
  // owners of the account, with credentials that leave less
  'reading', // nothing but reading
  'limited with', // the install "given" alone
  'limited without', // the same, after the person was made a partial user who was given no install
  'limited elsewhere', // another account that they own
] as const;
type Caller = (typeof CALLERS)[number];
/** Those who ask each endpoint in `npm test`: for their own install, for another one of the account, and for one of another account. */
const EVERYWHERE = ['partial with', 'outsider'] as const;
/** Those who ask one endpoint of each method in each line of the table. Requests of owners succeed in endpoint-table.both.test.ts. */
const IN_EACH_LINE = ['partial without', 'reading', 'limited with', 'limited elsewhere'] as const;
/** Those who ask what is the same for all endpoints. */
const FEW = rounds<readonly Caller[]>(['owner', 'full', ...EVERYWHERE, ...IN_EACH_LINE], CALLERS);
/** The callers whose rights depend on the install that is given to them. */
const BOUND: readonly Caller[] = ['partial with', 'limited with', 'limited without'];
/**
 * The outcome. `yes`: done; `no`: the caller sees the object but lacks the permission; `hide`: the object is hidden from the caller;
 * `bad`: the body refers to something that the caller may not use.
 */
type Outcome = 'yes' | 'no' | 'hide' | 'bad';

/**
 * The permissions of docs/api.md (Permissions) by endpoint: each caller's outcome for the install "given" and its parts. If it differs,
 * the outcome for another install of the account follows. An outsider and a caller without account always get the same.
 */
// biome-ignore format: a table
const MATRIX: [numbers: number[], owner: Outcome, full: Outcome, billing: Outcome, partialWith: Outcome, partialWithout: Outcome, outsiders: Outcome, partialWithOnOther?: Outcome][] = [
  // see the account
  [[4, 61, 62, 63, 64, 66, 129, 197],                     'yes', 'yes', 'yes', 'yes',  'yes',  'hide'],
  // list account users: partial users their own entry only
  [[5],                                 'yes', 'yes', 'yes', 'yes',  'yes',  'hide'],
  // read another account user
  [[7],                                 'yes', 'yes', 'yes', 'hide', 'hide', 'hide'],
  // invite; the invited are partial
  [[6],                                 'yes', 'yes', 'yes', 'no',   'no',   'hide'],
  // change, remove another, who is partial
  [[8, 9],                              'yes', 'yes', 'yes', 'hide', 'hide', 'hide'],
  // see sites: partial users those that hold their installs
  [[12],                                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // rename, delete sites
  [[13, 14],                            'yes', 'yes', 'yes', 'no',   'hide', 'hide', 'hide'],
  // see the tags of sites, change them
  [[189],                               'yes', 'yes', 'yes', 'yes',  'yes',  'hide'],
  [[190, 191, 192],                     'yes', 'yes', 'yes', 'no',   'no',   'hide'],
  // create sites and installs in the account that the body names
  [[11, 16],                            'yes', 'yes', 'yes', 'no',   'no',   'bad'],
  // see installs
  [[17],                                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // uptime and incidents of an install
  [[195, 196],                          'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // usage of an install
  [[65, 67],                            'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // move, delete installs
  [[18, 19],                            'yes', 'yes', 'yes', 'no',   'hide', 'hide', 'hide'],
  // make a staging copy of an install, and push an install over another one of the account
  [[161],                               'yes', 'yes', 'yes', 'no',   'hide', 'hide', 'hide'],
  [[162],                               'yes', 'yes', 'yes', 'bad',  'hide', 'hide', 'hide'],
  // offload of an install
  [[20, 21, 22, 23, 47],                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // domains, reports and certificates of an install
  [[24, 25, 26, 27, 28, 29, 30, 31, 32, 40, 71, 72, 73], 'yes', 'yes', 'yes', 'yes', 'hide', 'hide', 'hide'],
  // backups, caches of an install
  [[33, 34, 35, 41, 42, 43, 44, 45, 200, 201, 202], 'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // mail of an install
  [[140, 141],                          'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // see the WordPress of an install, read it again, sign in to it or to its database
  [[110, 127, 128, 175],                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // updates of the WordPress of an install
  [[120, 121, 123, 124],                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // update the WordPress of the account's installs that the caller sees
  [[122],                               'yes', 'yes', 'yes', 'yes',  'yes',  'hide'],
  // change plugins and themes of an install
  [[170, 171],                          'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // rules of an install
  [[150, 151, 152, 153, 154, 155, 156, 157, 158, 159], 'yes', 'yes', 'yes', 'yes', 'hide', 'hide', 'hide'],
  // logs of an install
  [[130, 131, 132, 133],                'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // see deleted installs of the account
  [[142],                               'yes', 'yes', 'yes', 'no',   'no',   'hide'],
  // restore a deleted install
  [[143],                               'yes', 'yes', 'yes', 'no',   'no',   'hide'],
  // import a website into an install
  [[160, 163, 176, 177],                    'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // run WP-CLI in an install
  [[111, 115],                          'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // PHP of an install
  [[112, 114],                             'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  [[113],                               'yes', 'yes', 'yes', 'no',   'hide', 'hide', 'hide'],
  // move an install to another host: operators, here the owner
  [[205, 206],                          'yes', 'no',  'no',  'no',   'hide', 'hide', 'hide'],
  [[207],                               'yes', 'no',  'no',  'hide', 'hide', 'hide', 'hide'],
  // see, cancel and repeat an operation of an install
  [[51, 52, 53],                            'yes', 'yes', 'yes', 'yes',  'hide', 'hide', 'hide'],
  // copy an install into another one of the account
  [[46],                                'yes', 'yes', 'yes', 'bad',  'bad',  'bad',  'bad'],
  // see transfers of the account
  [[90],                                'yes', 'yes', 'yes', 'no',   'no',   'hide'],
  // read the activity log: partial users their own entries
  [[99],                                'yes', 'yes', 'yes', 'yes',  'yes',  'hide'],
  // accept a transfer
  [[91],                                'yes', 'no',  'no',  'no',   'no',   'hide'],
  // see transfers of a site
  [[92, 94],                            'yes', 'yes', 'yes', 'no',   'hide', 'hide', 'hide'],
  // transfer a site, which holds no install of a partial user
  [[93],                                'yes', 'no',  'no',  'hide', 'hide', 'hide'],
  // cancel or decline a transfer
  [[95],                                'yes', 'no',  'no',  'no',   'hide', 'hide', 'hide'],
  // webhooks of the account
  [[103, 104, 105, 106, 107, 108, 109], 'yes', 'yes', 'yes', 'hide', 'hide', 'hide'],
  // create webhooks in the account that the body names
  [[102],                               'yes', 'yes', 'yes', 'no',   'no',   'bad'],
];

/** The callers who ask an endpoint: all in the long tests. */
function callersOf(row: EndpointRow): readonly Caller[] {
  if (isLong) return CALLERS;
  const numbers = MATRIX.map(([line]) => line).find((line) => line.includes(row.number)) ?? [];
  const first = ABOUT_THINGS.find(({ number, method }) => numbers.includes(number) && method === row.method);
  return first === row ? [...EVERYWHERE, ...IN_EACH_LINE] : EVERYWHERE;
}

/**
 * The installs that a caller asks about: the one that is given to them, and another one. Each change uses things up. So in `npm test`, a
 * partial user changes the given install at the first endpoint of each method in a line, and limited credentials never do.
 */
function placesOf(row: EndpointRow, kind: Caller): readonly ('given' | 'other')[] {
  if (!BOUND.includes(kind)) return ['given'];
  const isFirst = kind === 'partial with' && callersOf(row).length > EVERYWHERE.length;
  return isLong || row.method === 'GET' || isFirst ? ['given', 'other'] : ['other'];
}

function outcomeFor(row: EndpointRow, caller: Caller, place: 'given' | 'other'): Outcome {
  const line = MATRIX.find(([numbers]) => numbers.includes(row.number));
  if (!line) throw new Error(`${nameOf(row)} is not in the matrix`);
  const [, owner, full, billing, partialWith, partialWithout, outsiders, partialWithOnOther] = line;
  switch (caller) {
    case 'owner':
      return owner;
    case 'reading':
      return row.method === 'GET' ? owner : 'no';
    case 'full':
      return full;
    case 'full,billing':
      return billing;
    case 'partial with':
    case 'limited with':
      return place === 'other' ? (partialWithOnOther ?? partialWith) : partialWith;
    case 'partial without':
    case 'limited without':
      return partialWithout;
    default:
      return outsiders;
  }
}

function statusFor(row: EndpointRow, outcome: Outcome): number {
  switch (outcome) {
    case 'yes':
      return row.success;
    case 'no':
      return bestStatus(row, REFUSED);
    case 'hide':
      return bestStatus(row, HIDDEN);
    case 'bad':
      return 400;
  }
}

/** Endpoints about one object, or an account named in the body. The others concern the caller. */
const ABOUT_THINGS = ENDPOINTS.filter((row) => MATRIX.some(([numbers]) => numbers.includes(row.number)));
const BY_BODY: Record<number, string> = {
  11: 'account_id',
  16: 'account_id',
  46: 'destination_environment_id',
  102: 'account_id',
  162: 'to',
};

const clock = manualClock(new Date());
let homeport: TestHomeport;
/** Owner of the account that is asked about; makes its resources. */
let maker: Person;
let accountId: string;
let strangers: { owner: Person; accountId: string };

beforeAll(async () => {
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false }, clock });
  ({ owner: maker, accountId } = await homeport.ownedAccount());
  strangers = await homeport.ownedAccount();
});
afterAll(() => homeport.remove());

/** The callers of {@link accountId} whose rights do not depend on an install. */
const callers = new Map<Caller, Person>();

/** A person of the kind; `given` is the install that a "partial with" is given. */
async function callerFor(kind: Caller, given: string): Promise<Person> {
  const caller = callers.get(kind) ?? (await callerOf(kind, given));
  if (!BOUND.includes(kind)) callers.set(kind, caller);
  return caller;
}

/** A new owner of an account, who is an operator too. */
async function newOwner(of: string): Promise<Person> {
  const owner = await homeport.person(of, 'owner');
  await homeport.services.profile.changeByOperator(owner.userId, { is_operator: true });
  return owner;
}

/** A new person of the kind in an account. */
async function callerOf(kind: Caller, given: string, of = accountId, elsewhere = strangers): Promise<Person> {
  switch (kind) {
    case 'partial with':
      return homeport.person(of, 'partial', [given]);
    case 'partial without':
      return homeport.person(of, 'partial');
    case 'outsider':
      return elsewhere.owner;
    case 'nobody':
      return homeport.person();
    case 'reading':
      return limited(await newOwner(of), { readOnly: true });
    case 'limited with':
      return limited(await newOwner(of), { accountId: of, installId: given });
    case 'limited without': {
      const caller = await limited(await newOwner(of), { accountId: of, installId: given });
      await homeport.platform.database.write(({ queries }) =>
        queries
          .updateTable('memberships')
          .set({ role: 'partial' })
          .where('user_id', '=', caller.userId)
          .execute(),
      );
      return caller;
    }
    case 'limited elsewhere': {
      const person = await newOwner(of);
      await homeport.platform.database.write(({ queries }) =>
        queries
          .insertInto('memberships')
          .values({
            account_id: elsewhere.accountId,
            user_id: person.userId,
            role: 'owner',
            billing: false,
            invite_accepted: true,
            created_at: timestamp(clock),
          })
          .execute(),
      );
      return limited(person, { accountId: elsewhere.accountId });
    }
    default:
      return kind === 'owner' ? newOwner(of) : homeport.person(of, kind);
  }
}

/** The same person with a credential that leaves less of their rights. */
async function limited(
  person: Person,
  { readOnly = false, accountId, installId }: { readOnly?: boolean; accountId?: string; installId?: string },
): Promise<Person> {
  const credential = await homeport.services.credentials.issue(person.userId, {
    name: 'limited',
    limits: {
      readOnly,
      accountId: accountId ?? null,
      installs: installId === undefined ? null : { by: 'id', values: [installId] },
    },
  });
  return { ...person, credential, client: homeport.clientOf(credential) };
}

function ask(
  caller: Person,
  row: EndpointRow,
  resources: Record<string, string>,
  body: unknown,
): Promise<Answer> {
  return caller.client.call(row.method, pathTo(row, resources), body === undefined ? {} : { json: body });
}

/** Sets that nothing was done to yet, and how many sets were made before each. */
const shelf: ResourceSet[] = [];
const earlier = new Map<ResourceSet, number>();

async function takeResources(): Promise<ResourceSet> {
  for (let kept = shelf.pop(); kept !== undefined; kept = shelf.pop()) {
    // Five later ones displace its webhook and its SSH key, whose number is limited. The next one may be made while it is in use.
    if (earlier.size - (earlier.get(kept) ?? 0) < 5) return kept;
  }
  const made = await createResources(homeport, maker, accountId);
  earlier.set(made, earlier.size);
  return made;
}

/** An answer to the byte, but for what is new in each: the request's id, the date, and what remains of limits. */
function comparable({ status, headers, body }: Answer): unknown {
  const {
    'x-request-id': _id,
    date: _date,
    'ratelimit-remaining': _remaining,
    'ratelimit-reset': _reset,
    ...rest
  } = headers;
  return { status, headers: rest, body: JSON.stringify(body) };
}

it('covers every endpoint that is about a thing', () => {
  const aboutCaller = [1, 2, 3, 10, 15, 36, 37, 38, 39, 50, 96, 97, 98, 100, 101, 183, 184, 185, 186, 187];
  const numbers = [...ABOUT_THINGS.map((row) => row.number), ...aboutCaller];
  expect(numbers.sort((a, b) => a - b)).toEqual(ENDPOINTS.map((row) => row.number));
});

describe.each(ABOUT_THINGS.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  it.each(callersOf(row))('asked by: %s', async (kind) => {
    for (const place of placesOf(row, kind)) {
      const resources = await takeResources();
      const given = place === 'given' ? resources : await takeResources();
      const caller = await callerFor(kind, given.install_id);
      const outcome = outcomeFor(row, kind, place);
      const body = bodyFor(row, resources);
      const answer = await ask(caller, row, resources, body);
      expect(answer.status, `${place}: ${JSON.stringify(answer.body)}`).toBe(statusFor(row, outcome));
      if (outcome === 'no') expect(answer.body).toEqual({ message: MESSAGES[answer.status] });
      if (outcome === 'bad') {
        const faults = field(answer.body, 'errors');
        if (!Array.isArray(faults)) throw new Error('no list of faults');
        expect(faults.length).toBeGreaterThan(0);
        for (const fault of faults) {
          expect(fault).toMatchObject({ type: 'access_error', code: 'not_permitted' });
        }
      }
      if (outcome === 'hide') await expectLikeAbsent(caller, variantsOf(resources), body, answer);
      // The caller may see what the path names, but not what the body does.
      if (outcome === 'bad') await expectLikeAbsent(caller, [resources], body, answer);
      if (outcome !== 'yes' || row.method === 'GET') shelf.push(resources);
      if (given !== resources) shelf.push(given);
    }
  });

  /** The endpoint table has each unknown identifier, with the same status and message. */
  const variantsOf = (resources: ResourceSet): Record<string, string>[] => [
    ...(isLong ? idsOf(row).map((name) => ({ ...resources, [name]: crypto.randomUUID() })) : []),
    absentResources(),
  ];

  /** Hidden objects get the same response as missing ones. In the long tests for every identifier. */
  async function expectLikeAbsent(
    caller: Person,
    variants: Record<string, string>[],
    body: unknown,
    hidden: Answer,
  ) {
    const named = BY_BODY[row.number];
    const elsewhere = named === undefined ? {} : { [named]: crypto.randomUUID() };
    const asked = typeof body === 'object' ? { ...body, ...elsewhere } : undefined;
    for (const variant of variants) {
      expect(comparable(await ask(caller, row, variant, asked))).toEqual(comparable(hidden));
    }
  }
});

describe('references in a body', () => {
  const references = {
    'the site of a new install': (site_id: string) => [
      'POST',
      '/installs',
      { name: 'referring', account_id: accountId, site_id },
    ],
    'the site that an install moves to': (site_id: string) => [
      'PATCH',
      '/installs/{install_id}',
      { site_id },
    ],
    'the target of a redirect': (_: string, redirect_to: string) => [
      'POST',
      '/installs/{install_id}/domains',
      { name: 'referring.example.com', redirect_to },
    ],
    'the new target of a redirect': (_: string, redirect_to: string) => [
      'PATCH',
      '/installs/{install_id}/domains/{domain_id}',
      { redirect_to },
    ],
    'an install given to a user': (_: string, __: string, install: string) => [
      'PATCH',
      '/accounts/{account_id}/account_users/{user_id}',
      { roles: 'partial', install_ids: [install] },
    ],
    'an install given to an invited user': (_: string, __: string, install: string) => [
      'POST',
      '/accounts/{account_id}/account_users',
      {
        user: {
          account_id: accountId,
          first_name: 'A',
          last_name: 'B',
          email: 'referring@example.com',
          roles: 'partial',
          install_ids: [install],
        },
      },
    ],
  } satisfies Record<string, (site: string, domain: string, install: string) => [string, string, object]>;

  it.each(Object.entries(references))(
    "%s: another account's is like one that does not exist",
    async (_, refer) => {
      const resources = await takeResources();
      const theirs = await createResources(homeport, strangers.owner, strangers.accountId);
      const absent = absentResources();
      const [hidden, missing] = [theirs, absent].map(async ({ site_id, domain_id, install_id }) => {
        const [method, path, json] = refer(site_id, domain_id, install_id);
        return maker.client.call(method, pathWith(path, resources), { json });
      });
      const answer = await hidden;
      expect(answer).toMatchObject({
        status: 400,
        body: { errors: [{ type: 'access_error', code: 'not_permitted' }] },
      });
      if (!answer || !missing) throw new Error('no answer');
      expect(comparable(await missing)).toEqual(comparable(answer));
    },
  );
});

describe('lists', () => {
  const LISTS = ['/accounts', '/sites', '/installs', '/ssh_keys'];
  const idsIn = (answer: Answer) => {
    const results = field(answer.body, 'results');
    if (!Array.isArray(results)) throw new Error(`no list: ${JSON.stringify(answer.body)}`);
    return results.map((item: unknown) => field(item, 'id') ?? field(item, 'uuid') ?? field(item, 'user_id'));
  };

  it.each(FEW)('show a caller theirs, and count no more: %s', async (kind) => {
    const mine = await homeport.ownedAccount();
    const elsewhere = await homeport.ownedAccount();
    const [first, second] = [
      await createResources(homeport, mine.owner, mine.accountId),
      await createResources(homeport, mine.owner, mine.accountId),
    ];
    const caller =
      kind === 'owner' ? mine.owner : await callerOf(kind, first.install_id, mine.accountId, elsewhere);
    const all = ['owner', 'full', 'full,billing', 'reading'].includes(kind);
    const outside = ['outsider', 'limited elsewhere'].includes(kind);
    const sees = (list: string): string[] => {
      if (list === '/ssh_keys') return kind === 'owner' ? [first.ssh_key_id, second.ssh_key_id] : [];
      if (list === '/accounts' && kind === 'nobody') return [];
      if (list === '/accounts') return [outside ? elsewhere.accountId : mine.accountId];
      const [one, two] =
        list === '/sites' ? [first.site_id, second.site_id] : [first.install_id, second.install_id];
      if (all && list === '/sites') return [one, first.free_site_id, two, second.free_site_id];
      if (all) return [one, first.destination_id, two, second.destination_id];
      return ['partial with', 'limited with'].includes(kind) ? [one] : [];
    };
    for (const list of LISTS) {
      const answers = [await caller.client.get(list)];
      if (list === '/sites' || list === '/installs') {
        answers.push(await caller.client.get(`${list}?account_id=${mine.accountId}`));
        const foreign = await caller.client.get(`${list}?account_id=${crypto.randomUUID()}`);
        expect(foreign.body).toMatchObject({ count: 0, results: [] });
      }
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        expect(idsIn(answer), list).toEqual(sees(list));
        expect(field(answer.body, 'count'), list).toBe(sees(list).length);
      }
    }
  });

  it('of account users show a partial user their own entry, and the others all', async () => {
    const mine = await homeport.ownedAccount();
    const partial = await homeport.person(mine.accountId, 'partial');
    const full = await homeport.person(mine.accountId, 'full');
    const listed = async (person: Person) =>
      idsIn(await person.client.get(`/accounts/${mine.accountId}/account_users`));
    expect(await listed(partial)).toEqual([partial.userId]);
    expect(await listed(full)).toEqual([mine.owner.userId, partial.userId, full.userId]);
    expect(
      (await partial.client.get(`/accounts/${mine.accountId}/account_users/${partial.userId}`)).status,
    ).toBe(200);
  });
});

// A table in code again. The tests of account users change roles on both databases.
describe('changes of roles', () => {
  const ROLES = ['owner', 'full', 'full,billing', 'partial', 'partial,billing'] as const;
  /** The roles that each role may assign, change or remove: never above its own, and billing only with billing. */
  const MAY: Record<(typeof ROLES)[number], readonly string[]> = {
    owner: ROLES,
    'full,billing': ['full', 'full,billing', 'partial', 'partial,billing'],
    full: ['full', 'partial'],
    partial: [],
    'partial,billing': [],
  };
  const invitation = (roles: string) => ({
    user: {
      account_id: accountId,
      first_name: 'A',
      last_name: 'B',
      email: `${crypto.randomUUID()}@example.com`,
      roles,
    },
  });

  it.each(ROLES)('%s', async (role) => {
    const users = `/accounts/${accountId}/account_users`;
    const caller = await homeport.person(accountId, role);
    const seesOthers = !role.startsWith('partial');
    for (const target of ROLES) {
      const may = MAY[role].includes(target);
      const refusal = seesOthers ? 403 : 404;
      expect((await caller.client.post(users, invitation(target))).status, `invite ${target}`).toBe(
        may ? 201 : 403,
      );
      const member = await homeport.person(accountId, target);
      for (const next of rounds<readonly string[]>(['owner', 'full,billing'], ROLES)) {
        const promoted = await caller.client.patch(`${users}/${member.userId}`, { roles: next });
        const mayBoth = may && MAY[role].includes(next);
        expect(promoted.status, `${target} to ${next}`).toBe(mayBoth ? 200 : refusal);
        if (mayBoth) await maker.client.patch(`${users}/${member.userId}`, { roles: target });
      }
      const removed = await caller.client.delete(`${users}/${member.userId}`);
      expect(removed.status, `remove ${target}`).toBe(may ? 204 : refusal);
    }
    const themselves = await caller.client.patch(`${users}/${caller.userId}`, { roles: 'owner' });
    expect(themselves.status, 'make oneself an owner').toBe(role === 'owner' ? 200 : 403);
  });
});

it('DELETE /ssh_keys: a key of another user looks like one that does not exist', async () => {
  const resources = await takeResources();
  for (const kind of FEW) {
    const caller = await callerOf(kind, resources.install_id);
    if (caller === maker) continue;
    const hidden = await caller.client.delete(`/ssh_keys/${resources.ssh_key_id}`);
    expect(hidden).toMatchObject({ status: 403, body: { message: MESSAGES[403] } });
    const absent = await caller.client.delete(`/ssh_keys/${crypto.randomUUID()}`);
    expect(comparable(absent)).toEqual(comparable(hidden));
  }
  expect((await maker.client.delete(`/ssh_keys/${resources.ssh_key_id}`)).status).toBe(204);
});
