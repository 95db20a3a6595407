import { useState } from 'react';
import { type Member, usePeople } from '../../api/people.ts';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Badge } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { useRowSearch } from '../../components/row-search.tsx';
import { type Column, Table, TableTools } from '../../components/table.tsx';
import { useAccount, useSession } from '../../session/session.ts';
import { ChangePersonDialog } from './change-person.tsx';
import { InvitePersonDialog } from './invite-person.tsx';
import { PersonActions } from './person-actions.tsx';
import { personName } from './person-name.ts';
import { RemovePersonDialog } from './remove-person.tsx';
import { assignableRoles, type MemberRole, parseRoles, roleLabel } from './roles.ts';

/** The people of an account and their roles. */
export function PeoplePage({ accountId }: { accountId: string }) {
  const account = useAccount(accountId);
  return account ? (
    <People
      accountId={accountId}
      actor={{ role: account.role, billing: account.billing }}
      own={account.may['member.read'] === 'own'}
    />
  ) : null;
}

/** The open dialog. */
type Asked = { what: 'change' | 'remove'; member: Member };

function People({ accountId, actor, own }: { accountId: string; actor: MemberRole; own: boolean }) {
  const { user } = useSession();
  const people = usePeople(accountId);
  const [inviting, setInviting] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  // As it is now, because someone else may change it while the dialog is open.
  const changed =
    asked?.what === 'change'
      ? (people.data?.find(({ user_id }) => user_id === asked.member.user_id) ?? asked.member)
      : null;
  const ask = (what: Asked['what']) => (member: Member) => setAsked({ what, member });
  const columns: Column<Member>[] = [
    ...columnsFor(user.id),
    {
      id: 'actions',
      header: 'Actions',
      cell: (member) => (
        <PersonActions
          member={member}
          actor={actor}
          self={member.user_id === user.id}
          onChange={ask('change')}
          onRemove={ask('remove')}
        />
      ),
    },
  ];
  return (
    <Page
      title="People"
      subtitle={
        own
          ? 'Your own role. Owners and full users see everyone in this account.'
          : 'Everyone with access to this account, and their roles.'
      }
      actions={
        assignableRoles(actor).length > 0 && (
          <Button variant="primary" onClick={() => setInviting(true)}>
            Invite person
          </Button>
        )
      }
    >
      <Loaded query={people} what="people">
        {(members) => <PeopleTable columns={columns} members={members} />}
      </Loaded>
      <InvitePersonDialog accountId={accountId} actor={actor} open={inviting} onOpenChange={setInviting} />
      <ChangePersonDialog member={changed} actor={actor} onClose={() => setAsked(null)} />
      <RemovePersonDialog
        member={asked?.what === 'remove' ? asked.member : null}
        onClose={() => setAsked(null)}
      />
    </Page>
  );
}

/** The people of an account. Many can be searched by name, email and role. */
function PeopleTable({
  columns,
  members,
}: {
  columns: readonly Column<Member>[];
  members: readonly Member[];
}) {
  const { found, field, nothing } = useRowSearch(members, 'people', (member) => [
    personName(member),
    member.email,
    roleOf(member),
  ]);
  return (
    <>
      {field && <TableTools>{field}</TableTools>}
      {nothing ?? (
        <Table
          caption="People"
          columns={columns}
          rows={found}
          rowKey={({ user_id }) => user_id}
          initialSort={{ column: 'name', direction: 'ascending' }}
        />
      )}
    </>
  );
}

/** Number of installs that are named; the others are counted. */
const NAMED = 3;

function columnsFor(userId: string): Column<Member>[] {
  const nameOf = (member: Member) => `${personName(member)}${member.user_id === userId ? ' (you)' : ''}`;
  return [
    {
      id: 'name',
      header: 'Person',
      rowHeader: true,
      line: { share: 24, text: nameOf },
      sortBy: personName,
      cell: nameOf,
    },
    {
      id: 'email',
      header: 'Email',
      line: { share: 30, text: ({ email }) => email },
      sortBy: ({ email }) => email,
      cell: ({ email }) => email,
    },
    {
      id: 'role',
      header: 'Role',
      line: { share: 26, text: roleOf },
      sortBy: roleOf,
      cell: roleOf,
    },
    {
      id: 'invitation',
      header: 'Invitation',
      sortBy: ({ invite_accepted }) => (invite_accepted ? 1 : 0),
      cell: ({ invite_accepted }) =>
        invite_accepted ? <Badge tone="good">Accepted</Badge> : <Badge tone="busy">Pending</Badge>,
    },
    {
      id: 'factor',
      header: 'Second factor',
      optional: true,
      sortBy: ({ mfa_enabled }) => (mfa_enabled ? 1 : 0),
      cell: ({ mfa_enabled }) => (mfa_enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>),
    },
  ];
}

/** Returns the role of a member, with the installs of a partial user. */
function roleOf(member: Member): string {
  const role = parseRoles(member.roles);
  return role.role === 'partial' ? `${roleLabel(role)}: ${givenInstalls(member)}` : roleLabel(role);
}

function givenInstalls({ installs = [] }: Member): string {
  if (installs.length === 0) return 'no installs yet';
  const names = installs.slice(0, NAMED).map(({ name }) => name);
  const more = installs.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
