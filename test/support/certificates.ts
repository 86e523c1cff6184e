// A certificate for localhost with its key, made by `openssl req -x509 -nodes -days 36500`, and another one that it signed
// (`openssl x509 -req -CA`). Nothing trusts them.
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

/** An authority that nobody knows, and a certificate for mailboxes.test, hook.test, localhost and 127.0.0.1 that it signed, with its key. */
export const privateAuthority = {
  ca: ownCertificate.cert,
  cert: `-----BEGIN CERTIFICATE-----
MIIBtjCCAV2gAwIBAgIUIJO8JxbFN/5XsPHVreIalxLg1Y0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbWFpbC50ZXN0MCAXDTI2MTEyOTE1MzEzOVoYDzIxMjYxMTA1
MTUzMTM5WjAZMRcwFQYDVQQDDA5tYWlsYm94ZXMudGVzdDBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABLIv4leDG7SFwNgHPBEfy/rqsI378/1q0YLYsQQHUOOZlBS4
liFZK6JNMFTz0z+4kiDcaUD5efCo9PZkbT3EZvGjgYUwgYIwNQYDVR0RBC4wLIIO
bWFpbGJveGVzLnRlc3SCCWhvb2sudGVzdIIJbG9jYWxob3N0hwR/AAABMAkGA1Ud
EwQCMAAwHQYDVR0OBBYEFDaZgc0XMEHz8a5SYSeqEjK+D5gWMB8GA1UdIwQYMBaA
FGYE32uVkcSVPadLneoIQivv0MdHMAoGCCqGSM49BAMCA0cAMEQCIGAVvPscrQm3
gzQ2XDkl7w/7crsS+Qe2/Yk89qE2UykzAiATt73jEEZE0EwIl+M4Bn9OGKpwK1CM
jw6o/5Ucin5ERw==
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
