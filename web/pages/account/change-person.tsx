import { useQueryClient } from '@tanstack/react-query';
import { changeBack } from '../../api/change-back.ts';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import type { Precondition } from '../../api/precondition.ts';
import { Dialog } from '../../components/dialog.tsx';
import { GroupConflict } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { offerUndo } from '../../components/offer-undo.ts';
import { showSuccess } from '../../components/toast.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { useSession } from '../../session/session.ts';
import { personName } from './person-name.ts';
import { type RoleChoice, RoleFields } from './role-fields.tsx';
import { type MemberRole, parseRoles, roleLabel, rolesInput } from './roles.ts';

type Given = Pick<Member, 'roles' | 'installs'>;

const choiceOf = ({ roles, installs = [] }: Given): RoleChoice => ({
  ...parseRoles(roles),
  installIds: installs.map(({ id }) => id).toSorted(),
});

/** A role in words, with the number of installs of a partial user. */
const describeChoice = (choice: RoleChoice): string =>
  choice.role === 'partial'
    ? `${roleLabel(choice)}: ${choice.installIds.length === 1 ? '1 install' : `${choice.installIds.length} installs`}`
    : roleLabel(choice);

/** Whether two choices give the same rights. Installs count only for partial users. */
function isSameChoice(one: RoleChoice, other: RoleChoice): boolean {
  if (rolesInput(one) !== rolesInput(other)) return false;
  return one.role !== 'partial' || one.installIds.join() === other.installIds.join();
}

/** Changes the role of a member. The dialog is closed while `member` is null. */
export function ChangePersonDialog({
  member,
  actor,
  onClose,
}: {
  member: Member | null;
  actor: MemberRole;
  onClose(): void;
}) {
  return (
    <Dialog
      open={member !== null}
      onOpenChange={(open) => open || onClose()}
      title={member ? `Change the role of ${personName(member)}` : 'Change role'}
      description="The new role applies immediately, also to their API credentials."
    >
      {member && <ChangeForm member={member} actor={actor} onClose={onClose} />}
    </Dialog>
  );
}

function ChangeForm({ member, actor, onClose }: { member: Member; actor: MemberRole; onClose(): void }) {
  const { user } = useSession();
  const queries = useQueryClient();
  const { account_id, user_id } = member;
  const path = { account_id, user_id };

  const read = () => hosting.GET('/accounts/{account_id}/account_users/{user_id}', { params: { path } });
  const give = (choice: RoleChoice, header: Precondition) =>
    hosting.PATCH('/accounts/{account_id}/account_users/{user_id}', {
      params: { path, header },
      body: {
        roles: rolesInput(choice),
        ...(choice.role === 'partial' ? { install_ids: [...choice.installIds] } : {}),
      },
    });
  const reload = () => void queries.invalidateQueries({ queryKey: ['member', account_id] });

  async function change(given: RoleChoice, precondition: Precondition, former: RoleChoice) {
    const set = choiceOf((await unwrap(give(given, precondition))).account_user);
    reload();
    if (user_id === user.id) {
      // They may have given up the right to change it back.
      void queries.invalidateQueries({ queryKey: ['session'] });
      showSuccess(`Changed the role of ${personName(member)}.`);
    } else {
      offerUndo(`Changed the role of ${personName(member)}.`, async () => {
        try {
          await changeBack({
            read,
            isAsSet: (now) => isSameChoice(choiceOf(now), set),
            write: (header) => give(former, header),
            refusal: `Someone changed the role of ${personName(member)} again since. It stays as it is.`,
          });
        } finally {
          reload();
        }
        return `${personName(member)} has the former role again.`;
      });
    }
    onClose();
  }

  // One field, because the server takes a role with its installs as a whole.
  const draft = useDraft<Given, { choice: RoleChoice }>({
    resource: member,
    fieldsOf: (present) => ({ choice: choiceOf(present) }),
    read,
    save: (_edited, precondition, { choice }, former) => change(choice, precondition, former.choice),
  });
  const { name, value: given, onValue } = draft.field('choice');

  return (
    <Form draft={draft} submitLabel="Change role" fieldOf={(field) => (field === 'roles' ? 'role' : field)}>
      {user_id === user.id && (
        <Notice tone="busy">
          This is your own role. If you reduce it, only another member can restore it.
        </Notice>
      )}
      <RoleFields
        accountId={account_id}
        actor={actor}
        given={given}
        onChange={({ installIds = given.installIds, ...role }) =>
          onValue({ ...given, ...role, installIds: installIds.toSorted() })
        }
      />
      <GroupConflict label="Role" name={name} theirs={describeChoice(draft.theirs.choice)} />
    </Form>
  );
}
