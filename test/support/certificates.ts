// A certificate for localhost with its key, made by `openssl req -x509 -nodes -days 36500`, and a private authority with one that it
// signed (`openssl x509 -req -CA`). Nothing trusts them.
import { connect } from 'node:tls';

/** Of 0.0.0.0 and localhost, signed by nobody. */
export const ownCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUB0HBDzq3N1gV5FRCubzgqR9txTMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbWFpbC50ZXN0MCAXDTI2MTEyMjEwMTQ1NFoYDzIxMjYxMDI5
MTAxNDU0WjAUMRIwEAYDVQQDDAltYWlsLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATfgivIy/hJgLNAZQLaaQGmzf3wR0v/xBOWUTB7Rom0a10MIttvFK3s
jCGePimLjSHNtSk4Ju9rU3rT4EPgU4t8o28wbTAdBgNVHQ4EFgQUZgTfa5WRxJU9
p0ud6ghCK+/Qx0cwHwYDVR0jBBgwFoAUZgTfa5WRxJU9p0ud6ghCK+/Qx0cwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwQAAAAAgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDRwAwRAIgTb/xfF3UzzVaMo6KMAwFciXBopI8hvsZXqzUy5cTOCECIE/G
DIIXTCHQgDLoVs+1qACrit0u6RBg+3qAwlO3uiwh
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB3pOcLnhS2SCpqrv
JbOAdyJy8gZEgrCQJfnd/bpn6DqhRANCAATfgivIy/hJgLNAZQLaaQGmzf3wR0v/
xBOWUTB7Rom0a10MIttvFK3sjCGePimLjSHNtSk4Ju9rU3rT4EPgU4t8
-----END PRIVATE KEY-----
`,
};

/** A private authority, and a certificate for mailboxes.test, hook.test, localhost and 127.0.0.1 that it signed, with its key. */
export const privateAuthority = {
  ca: `-----BEGIN CERTIFICATE-----
MIIBpDCCAUmgAwIBAgIUQ1Esp6te4W+u4pdRzOShhVzGoGAwCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTQSBwcml2YXRlIGF1dGhvcml0eTAgFw0yNjExMjcwODA5MDla
GA8yMTI2MTEwMzA4MDkwOVowHjEcMBoGA1UEAwwTQSBwcml2YXRlIGF1dGhvcml0
eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLhAlK29yWtqfFXlY/m7NH8FiWWc
GGG8m9dlENSKbngKwRe/UgKVIpDDJp+r2ys3f9QXe7/IMrcO7fc+meGWFYWjYzBh
MB0GA1UdDgQWBBQUrRFUkTLT5GjHamMJPFToYRjLxTAfBgNVHSMEGDAWgBQUrRFU
kTLT5GjHamMJPFToYRjLxTAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIB
BjAKBggqhkjOPQQDAgNJADBGAiEAzaOvAckQenf4g16iT/Y7I3BxmDQqO+x9bl+F
mUPaVmQCIQDwiJLI74CKhfQey/hMvxSvIozgFmIaE41s544H4xy+pg==
-----END CERTIFICATE-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBwTCCAWegAwIBAgIUfYPdNa1huaGQyCvixbWYr+iPOCswCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTQSBwcml2YXRlIGF1dGhvcml0eTAgFw0yNjExMjcwODA5MDla
GA8yMTI2MTEwMzA4MDkwOVowGTEXMBUGA1UEAwwObWFpbGJveGVzLnRlc3QwWTAT
BgcqhkjOPQIBBggqhkjOPQMBBwNCAASyL+JXgxu0hcDYBzwRH8v66rCN+/P9atGC
2LEEB1DjmZQUuJYhWSuiTTBU89M/uJIg3GlA+XnwqPT2ZG09xGbxo4GFMIGCMDUG
A1UdEQQuMCyCDm1haWxib3hlcy50ZXN0gglob29rLnRlc3SCCWxvY2FsaG9zdIcE
fwAAATAJBgNVHRMEAjAAMB0GA1UdDgQWBBQ2mYHNFzBB8/GuUmEnqhIyvg+YFjAf
BgNVHSMEGDAWgBQUrRFUkTLT5GjHamMJPFToYRjLxTAKBggqhkjOPQQDAgNIADBF
AiAIfMg9sWOBneSECIRpGE61PLahh+Gyz3Zfz8CmJKtBLAIhAJNyvfj9tY2/4gO7
C/5mr2fTgHSfRbpC4j2Vp1b8qeoZ
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJlhDB+yzp++FDoDY
imTsHMbt2eDeMyO2jlyhWz7LKFqhRANCAASyL+JXgxu0hcDYBzwRH8v66rCN+/P9
atGC2LEEB1DjmZQUuJYhWSuiTTBU89M/uJIg3GlA+XnwqPT2ZG09xGbx
-----END PRIVATE KEY-----
`,
};

/** The certificate that a new connection is shown, as PEM. */
export function certificateOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const der = socket.getPeerCertificate().raw.toString('base64');
      socket.destroy();
      resolve(`-----BEGIN CERTIFICATE-----\n${der.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----`);
    });
    socket.on('error', reject);
  });
}
