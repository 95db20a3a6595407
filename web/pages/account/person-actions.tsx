import { useMutation } from '@tanstack/react-query';
import { portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import { Button } from '../../components/button.tsx';
import { showFailure, showSuccess } from '../../components/toast.tsx';
import styles from './account.module.css';
import { personName } from './person-name.ts';
import { type MemberRole, parseRoles, reasonNotToChange } from './roles.ts';

/** The actions that the user may perform on a member, or why there are none. */
export function PersonActions({
  member,
  actor,
  self,
  onChange,
  onRemove,
}: {
  member: Member;
  actor: MemberRole;
  /** Whether the member is the user. */
  self: boolean;
  onChange(member: Member): void;
  onRemove(member: Member): void;
}) {
  const name = personName(member);
  const target = { ...parseRoles(member.roles), lastOwner: member.last_owner ?? false };
  const reason = reasonNotToChange(actor, target);
  const mayChange = reason === null;
  const mayEnd = self ? !target.lastOwner : mayChange;
  if (!mayEnd) return <span className={styles.soft}>{reason}</span>;
  return (
    <div className={styles.actions}>
      {mayChange && (
        <Button small aria-label={`Change role of ${name}`} onClick={() => onChange(member)}>
          Change role
        </Button>
      )}
      {mayChange && !member.invite_accepted && <InviteAgain member={member} />}
      <Button
        small
        aria-label={self ? 'Leave this account' : `Remove ${name}`}
        onClick={() => onRemove(member)}
      >
        {self ? 'Leave' : 'Remove'}
      </Button>
    </div>
  );
}

function InviteAgain({ member: { account_id, user_id, ...person } }: { member: Member }) {
  const send = useMutation({
    mutationFn: () =>
      unwrapEmpty(
        portal.POST('/portal/api/accounts/{account_id}/account_users/{user_id}/invitation', {
          params: { path: { account_id, user_id } },
        }),
      ),
    onSuccess: () => showSuccess(`Sent the invitation to ${person.email} again.`),
    onError: showFailure,
  });
  return (
    <Button
      small
      pending={send.isPending}
      aria-label={`Resend invitation: ${personName(person)}`}
      onClick={() => send.mutate()}
    >
      Resend invitation
    </Button>
  );
}
