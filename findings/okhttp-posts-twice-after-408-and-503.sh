#!/usr/bin/env bash
# One would expect: an HTTP client without a policy for retries sends a POST once, and hands 408 or 503 to the caller.
# What happens: OkHttp repeats it by itself, once: after 408, and after 503 with "Retry-After: 0". The caller sees the second answer alone. A proxy that
# says 408 when the server behind it was slow has already let the first POST through, so the thing is done twice. retryOnConnectionFailure(false)
# ends the repeat after 408, not the one after 503. The client of the JDK, and OkHttp after 429, 425, 421 or a longer Retry-After, do not repeat.
# Versions: okhttp 5.5.1 (Maven), Java 17. Date: 2026-11-28.
# Source: RetryAndFollowUpInterceptor in OkHttp's code; the documentation of retryOnConnectionFailure speaks of connections only.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>1</version>
<dependencies><dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp-jvm</artifactId><version>5.5.1</version></dependency></dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=lib >/dev/null
cat >Ask.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.*;

public class Ask {
  public static void main(String[] none) throws Exception {
    for (String answer : List.of("408", "503", "503 0", "503 1", "429 0", "425 0", "421")) {
      var posts = new AtomicInteger();
      var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
      // The first POST gets the answer, each further one 200.
      server.createContext("/", exchange -> {
        exchange.getRequestBody().readAllBytes();
        var parts = answer.split(" ");
        if (parts.length > 1) exchange.getResponseHeaders().set("Retry-After", parts[1]);
        exchange.sendResponseHeaders(posts.incrementAndGet() == 1 ? Integer.parseInt(parts[0]) : 200, -1);
        exchange.close();
      });
      server.start();
      var url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
      var line = new StringBuilder(answer + ":");
      for (boolean retry : new boolean[] {true, false}) {
        posts.set(0);
        var client = new OkHttpClient.Builder().retryOnConnectionFailure(retry).build();
        var request = new Request.Builder().url(url).post(RequestBody.create("pause".getBytes())).build();
        try (var response = client.newCall(request).execute()) {
          line.append(" OkHttp, retry " + retry + ": POSTs " + posts + ", " + response.code() + ";");
        }
      }
      posts.set(0);
      var request = HttpRequest.newBuilder(URI.create(url)).POST(HttpRequest.BodyPublishers.ofString("pause")).build();
      var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
      System.out.println(line + " JDK: POSTs " + posts + ", " + response.statusCode());
      server.stop(0);
    }
    System.exit(0);
  }
}
JAVA
{ ls lib | sed -n 's/^\(okhttp-.*\)\.jar/\1/p'; java -cp 'lib/*' Ask.java; } | tee seen
diff - seen <<'E2'
okhttp-jvm-5.5.1
408: OkHttp, retry true: POSTs 2, 200; OkHttp, retry false: POSTs 1, 408; JDK: POSTs 1, 408
503: OkHttp, retry true: POSTs 1, 503; OkHttp, retry false: POSTs 1, 503; JDK: POSTs 1, 503
503 0: OkHttp, retry true: POSTs 2, 200; OkHttp, retry false: POSTs 2, 200; JDK: POSTs 1, 503
503 1: OkHttp, retry true: POSTs 1, 503; OkHttp, retry false: POSTs 1, 503; JDK: POSTs 1, 503
429 0: OkHttp, retry true: POSTs 1, 429; OkHttp, retry false: POSTs 1, 429; JDK: POSTs 1, 429
425 0: OkHttp, retry true: POSTs 1, 425; OkHttp, retry false: POSTs 1, 425; JDK: POSTs 1, 425
421: OkHttp, retry true: POSTs 1, 421; OkHttp, retry false: POSTs 1, 421; JDK: POSTs 1, 421
E2
