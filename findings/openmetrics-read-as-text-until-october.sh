#!/usr/bin/env bash
# One would expect: expfmt.NewDecoder of Prometheus' Go library, when it is handed the format that expfmt.ResponseFormat found in the answer's header,
# reads OpenMetrics as OpenMetrics. The function takes that format and returns no error.
# What happens: up to 0.72.1 it reads it as the older text. A timestamp of seconds is taken for milliseconds (November 2023 becomes January 1970), a
# counter is "untyped", its `_created` a series, and only a fraction or an exemplar is an error. From 0.73.0 on it reads it, so
# types and times change with a minor version; a family of type info still ends the whole answer with an error.
# Versions: github.com/prometheus/common 0.72.1 and 0.74.0 (Go). Date: 2026-11-28.
# Source: the changelog of 0.73.0 ("ABNF-based OpenMetrics 1.0 parser"); OpenMetrics 1.0, "Timestamps", wants seconds.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >read.go <<'GO'
package main
import ("fmt"; "net/http"; "sort"; "strings"; dto "github.com/prometheus/client_model/go"; "github.com/prometheus/common/expfmt")
func main() {
	header := http.Header{"Content-Type": {"application/openmetrics-text; version=1.0.0; charset=utf-8"}}
	for _, lines := range []string{
		"# TYPE sent counter\nsent_total 5 1700000000\n",
		"# TYPE sent counter\nsent_total 5 1700000000.5\n",
		"# TYPE sent counter\nsent_total 5\nsent_created 1700000000\n",
		"# TYPE sent counter\nsent_total 5 # {id=\"a\"} 1\n",
		"# TYPE build info\nbuild_info{version=\"1\"} 1\n# TYPE sent counter\nsent_total 5\n",
	} {
		decoder := expfmt.NewDecoder(strings.NewReader(lines+"# EOF\n"), expfmt.ResponseFormat(header))
		var seen []string
		for count := 0; ; count++ {
			var family dto.MetricFamily
			if err := decoder.Decode(&family); err != nil {
				if err.Error() != "EOF" { seen = append(seen, fmt.Sprint("then an error, after families: ", count)) }
				break
			}
			seen = append(seen, fmt.Sprint(family.GetName(), " ", family.GetType(), " at ", family.GetMetric()[0].GetTimestampMs()))
		}
		sort.Strings(seen) // Families of one read come in no order.
		fmt.Println(strings.Join(seen, "; "))
	}
}
GO
for version in 0.72.1 0.74.0; do
  rm -f go.mod go.sum
  { go mod init read; go get "github.com/prometheus/common/expfmt@v$version"; } 2>/dev/null
  echo "prometheus/common $version"
  go run read.go
done | tee seen
diff - seen <<'E2'
prometheus/common 0.72.1
sent_total UNTYPED at 1700000000
sent_total UNTYPED at 0; then an error, after families: 1
sent_created UNTYPED at 0; sent_total UNTYPED at 0
sent_total UNTYPED at 0; then an error, after families: 1
then an error, after families: 0
prometheus/common 0.74.0
sent_total COUNTER at 1700000000000
sent_total COUNTER at 1700000000500
sent_total COUNTER at 0
sent_total COUNTER at 0
then an error, after families: 0
E2
