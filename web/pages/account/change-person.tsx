import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeBack } from '../../api/change-back.ts';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { offerUndo } from '../../components/offer-undo.ts';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';
import { personName } from './person-name.ts';
import { type RoleChoice, RoleFields } from './role-fields.tsx';
import { type MemberRole, parseRoles, rolesInput } from './roles.ts';

const choiceOf = ({ roles, installs = [] }: Pick<Member, 'roles' | 'installs'>): RoleChoice => ({
  ...parseRoles(roles),
  installIds: installs.map(({ id }) => id),
});

/** Whether two choices give the same rights. Installs count only for partial users. */
function isSameChoice(one: RoleChoice, other: RoleChoice): boolean {
  if (rolesInput(one) !== rolesInput(other)) return false;
  return one.role !== 'partial' || one.installIds.toSorted().join() === other.installIds.toSorted().join();
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
  const [given, setGiven] = useState(() => choiceOf(member));
  const path = { account_id, user_id };

  const read = () => hosting.GET('/accounts/{account_id}/account_users/{user_id}', { params: { path } });
  const give = (choice: RoleChoice, header: { 'If-Match'?: string } = {}) =>
    hosting.PATCH('/accounts/{account_id}/account_users/{user_id}', {
      params: { path, header },
      body: {
        roles: rolesInput(choice),
        ...(choice.role === 'partial' ? { install_ids: choice.installIds } : {}),
      },
    });
  const reload = () => void queries.invalidateQueries({ queryKey: ['member', account_id] });

  async function change() {
    const former = choiceOf(await unwrap(read()));
    const set = choiceOf((await unwrap(give(given))).account_user);
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

  return (
    <Form
      submitLabel="Change role"
      actions={<Button onClick={onClose}>Cancel</Button>}
      onSubmit={change}
      fieldOf={(field) => (field === 'roles' ? 'role' : field)}
    >
      {user_id === user.id && (
        <Notice tone="busy">
          This is your own role. If you reduce it, only another member can restore it.
        </Notice>
      )}
      <RoleFields accountId={account_id} actor={actor} given={given} onChange={setGiven} />
    </Form>
  );
}
