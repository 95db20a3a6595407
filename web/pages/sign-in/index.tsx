export { ForgottenPasswordPage } from './forgotten-password-page.tsx';
export { InvitationPage } from './invitation-page.tsx';
export { PasswordLinkPage } from './password-link-page.tsx';
export { SecondFactorPage } from './second-factor-page.tsx';
export { SignInPage } from './sign-in-page.tsx';
